"""Documents as CSV, for bookkeeping and tax programs: one row a line."""

from __future__ import annotations

import csv
import io
import re
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
    "price_book",
    "price_version",
    "characters",
    "per_million",
    "amount",
    # Of the whole document: on its first line alone, so that these add up as well.
    "document_total",
    "prepaid_credit",
    "still_due",
    "topped_up_characters",
)
# What a spreadsheet would run as a formula: some drop what cannot be seen before it, and some make
# full-width and small forms of the signs narrow. Tabs and ends of lines lead into another cell.
_UNSEEN = r"[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*"
_WIDE = r"\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b"
_NOTHING = ("", "", "", "")
_FORMULA = re.compile(rf"[\t\r\n]|{_UNSEEN}[=+\-@{_WIDE}]")


def as_csv(documents: QuerySet[Document] | list[Document]) -> str:
    """Amounts are decimals; those of credit notes are negative, so that columns add up."""
    found = list(documents)
    prefetch_related_objects(found, "lines", "tenant", "corrects", "credit_notes")
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(HEADER)
    writer.writerows(_rows(found))
    return file.getvalue()


def _rows(documents: Iterable[Document]) -> Iterable[tuple[object, ...]]:
    for document in documents:
        for place, line in enumerate(document.lines.all()):
            whole = _of_whole(document) if place == 0 else _NOTHING
            yield tuple(map(plain, (*_of_line(document, line), *whole)))


def _of_line(document: Document, line: DocumentLine) -> tuple[object, ...]:
    return (
        document.label,
        document.kind,
        document.corrects.label if document.corrects else "",
        document.tenant.slug,
        document.buyer_lines[0],
        f"{document.month:%Y-%m}",
        f"{document.issued_at:%Y-%m-%d}",
        f"{document.due_on:%Y-%m-%d}",
        document.currency,
        line.position,
        line.text,
        line.model,
        line.voice_kind,
        line.price_book,
        line.price_version or "",
        line.characters,
        money.to_decimal(line.per_million_micros),
        money.to_decimal(_sign(document) * line.amount_micros),
    )


def _of_whole(document: Document) -> tuple[object, ...]:
    topped_up = document.top_up_characters
    return (
        money.to_decimal(_sign(document) * document.total_micros),
        money.to_decimal(-_sign(document) * document.credit_micros),
        money.to_decimal(document.still_due_micros),
        "" if topped_up is None else topped_up,
    )


def _sign(document: Document) -> int:
    return 1 if document.kind == Kind.INVOICE else -1


def plain(cell: object) -> object:
    """The cell, and text that a spreadsheet would run as a formula with a quote before it."""
    is_formula = isinstance(cell, str) and _FORMULA.match(cell) is not None
    return f"'{cell}" if is_formula else cell
