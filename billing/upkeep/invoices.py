"""Invoices against the sums that they were made from."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Sum

from billing.invoices.models import Document, Kind
from billing.prices.uses import midnight, next_month
from billing.rollups.selectors import total
from billing.upkeep.findings import Difference
from billing.upkeep.tally import Source, Tally


def invoices(since: datetime, until: datetime, tally: Tally) -> Iterator[Difference]:
    """Of the months that the range touches and the one before, which was invoiced meanwhile: where
    the characters invoiced are not those charged.

    Invoices are never edited: one that is wrong is corrected by a credit note, and stays told."""
    before = since.date().replace(day=1) - timedelta(days=1)
    issued = Document.objects.filter(
        kind=Kind.INVOICE, month__gte=before.replace(day=1), month__lt=until.date()
    )
    for invoice in issued.annotate(characters=Sum("lines__characters")).order_by("pk"):
        begin, end = midnight(invoice.month), midnight(next_month(invoice.month))
        names = ("billed_characters", "top_up_characters")
        charged = sum(total(begin, end, names, tenant_id=invoice.tenant_id).values())
        tally.add(Source.INVOICES, invoice.characters or 0, charged)
        if invoice.characters != charged:
            detail = f"{invoice.characters} characters invoiced, and the ledger says {charged}"
            yield Difference("invoices", invoice.label, detail)
