"""Reading documents, always through a tenant but for the installation's own pages."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from billing.invoices.drafts import Draft, draft
from billing.invoices.models import BillingDetails, Document, DocumentLine, Seller
from billing.models import Grain, Reservation, Rollup
from billing.prices import uses
from billing.prices.selectors import price_list
from ttsapp.tenants.models import Tenant


def documents(tenant: Tenant) -> QuerySet[Document]:
    """Newest first."""
    found = Document.objects.filter(tenant=tenant).select_related("corrects")
    return found.prefetch_related("credit_notes")


def document(tenant: Tenant, document_id: UUID) -> Document | None:
    found = Document.objects.filter(tenant=tenant, pk=document_id)
    return found.select_related("seller", "tenant", "corrects").first()


def all_documents(words: str = "", month: date | None = None, kind: str = "") -> QuerySet[Document]:
    """Of every tenant, newest first; `words` of a tenant's name or of a number."""
    found = Document.objects.select_related("tenant", "seller", "corrects")
    found = found.prefetch_related("credit_notes")
    if words:
        by_name = Q(tenant__name__icontains=words) | Q(tenant__slug__icontains=words)
        found = found.filter(by_name | Q(label__icontains=words))
    if month is not None:
        found = found.filter(month=month)
    return found.filter(kind=kind) if kind else found


def any_document(document_id: UUID) -> Document | None:
    return all_documents().filter(pk=document_id).first()


def left_out(now: datetime) -> QuerySet[Tenant]:
    """Who was charged for characters this month or the last and has no billing details."""
    last_month = (now.date().replace(day=1) - timedelta(days=1)).replace(day=1)
    used = Rollup.objects.filter(
        tenant=OuterRef("pk"),
        grain=Grain.DAY,
        start__gte=uses.midnight(last_month),
        billed_characters__gt=0,
    )
    left_out = Tenant.objects.filter(Exists(used), billing_details=None)
    return left_out.only("name", "slug").order_by("name")


def held_back(now: datetime) -> list[BillingDetails]:
    """Whose invoices go on with a month to come, so that the running one has none."""
    found = BillingDetails.objects.filter(next_month__gt=now.date().replace(day=1))
    return list(found.select_related("tenant").order_by("tenant__name"))


def sellers() -> QuerySet[Seller]:
    return Seller.objects.order_by("name")


def details(tenant: Tenant) -> BillingDetails | None:
    return BillingDetails.objects.filter(tenant=tenant).select_related("seller").first()


def to_invoice(now: datetime) -> list[BillingDetails]:
    """Whose next month is before this one."""
    found = BillingDetails.objects.filter(next_month__lt=now.date().replace(day=1))
    return list(found.select_related("tenant").order_by("pk"))


def month_so_far(tenant: Tenant, month: date) -> Draft | None:
    """What the month comes to by what is in the ledger now; None without a price book."""
    return next(iter(latest_months(tenant, month, 1)), None)


def latest_months(tenant: Tenant, month: date, count: int) -> list[Draft]:
    """What each of the `count` months to this one comes to; none for a month without prices."""
    first = month
    for _ in range(count - 1):
        first = (first - timedelta(days=1)).replace(day=1)
    prices = price_list()
    used = uses.by_day(first, uses.next_month(month), tenant.pk)
    found = []
    for each in uses.months(first, uses.next_month(month)):
        book = prices.book(tenant.pk, each)
        if book is not None:
            part = [use for use in used if use.day.replace(day=1) == each]
            found.append(draft(book, each, part))
    return found


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
    """Micros to be paid for it by now, whatever was read of its credit notes before."""
    return Document.objects.get(pk=invoice.pk).still_due_micros
