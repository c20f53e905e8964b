"""Documents as CSV, for bookkeeping and tax programs: one row a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from django.db.models import QuerySet, prefetch_related_objects

from billing import money
from billing.invoices.models import Document, DocumentLine, Kind

HEADER = (
    "number",
    "kind",
    "corrects",
    "tenant",
    "customer",
    "month",
    "issued",
    "due",
    "currency",
    "line",
    "text",
    "model",
    "voice_kind",
    "price_version",
    "characters",
    "per_million",
    "amount",
    "document_total",
    "prepaid_credit",
)
# What a spreadsheet would run as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(documents: QuerySet[Document] | list[Document]) -> str:
    """Amounts are decimals; those of credit notes are negative, so that columns add up."""
    found = list(documents)
    prefetch_related_objects(found, "lines", "tenant", "corrects")
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(HEADER)
    writer.writerows(_rows(found))
    return file.getvalue()


def _rows(documents: Iterable[Document]) -> Iterable[tuple[object, ...]]:
    for document in documents:
        for line in document.lines.all():
            yield _row(document, line)


def _row(document: Document, line: DocumentLine) -> tuple[object, ...]:
    sign = 1 if document.kind == Kind.INVOICE else -1
    return (
        document.label,
        document.kind,
        document.corrects.label if document.corrects else "",
        document.tenant.slug,
        plain(document.buyer_lines[0]),
        f"{document.month:%Y-%m}",
        f"{document.issued_at:%Y-%m-%d}",
        f"{document.due_on:%Y-%m-%d}",
        document.currency,
        line.position,
        plain(line.text),
        plain(line.model),
        line.voice_kind,
        line.price_version or "",
        line.characters,
        money.to_decimal(line.per_million_micros),
        money.to_decimal(sign * line.amount_micros),
        money.to_decimal(sign * document.total_micros),
        money.to_decimal(-sign * document.credit_micros),
    )


def plain(cell: object) -> object:
    """The cell, and text that a spreadsheet would run as a formula with a quote before it."""
    is_formula = isinstance(cell, str) and cell.startswith(_FORMULA)
    return f"'{cell}" if is_formula else cell
