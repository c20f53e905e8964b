"""Reading accounts of prepaid credit."""

from __future__ import annotations

from django.db.models import QuerySet, Sum

from billing.credit.models import CreditEntry, Reason
from ttsapp.tenants.models import Tenant


def balance(tenant: Tenant, currency: str) -> int:
    """Micros."""
    entries = CreditEntry.objects.filter(tenant=tenant, currency=currency)
    return int(entries.aggregate(sum=Sum("amount_micros", default=0))["sum"])


def paid_in(tenant: Tenant, currency: str) -> int:
    """Micros: what was paid ahead and not paid back. What was given is none of it."""
    by_payment = (Reason.PAID, Reason.REFUNDED)
    entries = CreditEntry.objects.filter(tenant=tenant, currency=currency, reason__in=by_payment)
    return int(entries.aggregate(sum=Sum("amount_micros", default=0))["sum"])


def balances(tenant: Tenant) -> dict[str, int]:
    """Micros by currency, of every currency the tenant ever had credit in."""
    sums = CreditEntry.objects.filter(tenant=tenant).order_by("currency").values("currency")
    return {row["currency"]: row["sum"] for row in sums.annotate(sum=Sum("amount_micros"))}


def entries(tenant: Tenant) -> QuerySet[CreditEntry]:
    """Newest first."""
    return CreditEntry.objects.filter(tenant=tenant).select_related("document")
