"""Reading documents, always through a tenant but for the installation's own pages."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet, Sum

from billing.invoices.drafts import Draft, draft
from billing.invoices.models import BillingDetails, Document, DocumentLine, Kind, Seller
from billing.models import Reservation
from billing.prices import uses
from billing.prices.selectors import price_list
from ttsapp.tenants.models import Tenant


def documents(tenant: Tenant) -> QuerySet[Document]:
    """Newest first."""
    return Document.objects.filter(tenant=tenant).select_related("corrects")


def document(tenant: Tenant, document_id: UUID) -> Document | None:
    found = Document.objects.filter(tenant=tenant, pk=document_id)
    return found.select_related("seller", "tenant", "corrects").first()


def all_documents() -> QuerySet[Document]:
    """Of every tenant, newest first."""
    return Document.objects.select_related("tenant", "seller", "corrects")


def sellers() -> QuerySet[Seller]:
    return Seller.objects.order_by("name")


def details(tenant: Tenant) -> BillingDetails | None:
    return BillingDetails.objects.filter(tenant=tenant).select_related("seller").first()


def month_so_far(tenant: Tenant, month: date) -> Draft | None:
    """What the month comes to by what is in the ledger now; None without a price book."""
    book = price_list().book(tenant.pk, month)
    if book is None:
        return None
    used = uses.by_day(month, uses.next_month(month), tenant.pk)
    return draft(book, month, used)


def is_over(tenant: Tenant, month: date, now: datetime) -> bool:
    """Whether the ledger has all of it: no request that began in it can still be settled."""
    end = uses.midnight(uses.next_month(month))
    if now < end + timedelta(seconds=settings.ORPHAN_SECONDS):
        return False
    return not Reservation.objects.filter(tenant=tenant, created_at__lt=end).exists()


def left_to_correct(invoice: Document) -> dict[int, int]:
    """Micros by position: what no credit note has taken back yet."""
    left = dict(invoice.lines.values_list("position", "amount_micros"))
    notes = DocumentLine.objects.filter(document__corrects=invoice).order_by()
    for row in notes.values("position").annotate(sum=Sum("amount_micros")):
        left[row["position"]] -= row["sum"]
    return left


def still_due(invoice: Document) -> int:
    """Micros to be paid for it, less what its credit notes have lowered that by."""
    notes = invoice.credit_notes.aggregate(
        total=Sum("total_micros", default=0), credit=Sum("credit_micros", default=0)
    )
    return invoice.due_micros - int(notes["total"] - notes["credit"])


def invoiced_characters(month: date) -> dict[int, int]:
    """By tenant, as the month's invoices say: to be compared with the ledger."""
    lines = DocumentLine.objects.filter(document__kind=Kind.INVOICE, document__month=month)
    sums = lines.order_by().values("document__tenant").annotate(sum=Sum("characters"))
    return {row["document__tenant"]: row["sum"] for row in sums}
