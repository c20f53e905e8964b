"""Whether a tenant's prepaid credit is low or gone: said above each of its pages."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from billing import money
from billing.credit import prepaid
from ttsapp.alerts.models import TROUBLE, Alert
from ttsapp.tenants.models import Tenant


@dataclass(frozen=True, slots=True)
class Banner:
    """`is_gone`: requests to speak are refused by now. `lasts`: what is left at this moment, for as
    many days as the alert last found, else empty."""

    is_gone: bool
    left: int
    currency: str
    lasts: str = ""


def banner(tenant: Tenant) -> Banner | None:
    """None: there is enough, or it does not speak on prepaid credit alone."""
    account = prepaid.account(tenant.pk, timezone.now())
    if account is None:
        return None
    if account.left <= 0:
        return Banner(True, account.left, account.currency)
    low = Alert.objects.filter(rule="credit", tenant=tenant, state__in=TROUBLE, value__gt=0).first()
    if low is None:
        return None
    left = money.text(account.left, account.currency)
    lasts = f"{left} left, for {low.value:,.1f} days"
    return Banner(False, account.left, account.currency, lasts)
