"""What the ledger says was spent, and what a tenant is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.utils import timezone

from billing.credit import prepaid
from billing.models import Reservation
from billing.prices.selectors import kept
from billing.rollups.selectors import total
from ttsapp.limits import purse
from ttsapp.limits.rules import Ask, Limits, Subject
from ttsapp.tenants.models import Tenant


def of_tenant(tenant_id: int) -> tuple[Limits, Mapping[str, int] | None]:
    """Its limits and, if it pays ahead, its funds by currency."""
    return Tenant.objects.get(pk=tenant_id).limits, prepaid.funds([tenant_id]).get(tenant_id)


def running(tenant_id: int, month: str) -> list[Ask]:
    """What the tenant's streams hold, as their reservations say: for a store that has forgotten
    it. What has died since is held for as long as a stream that is not renewed."""
    prices, today = kept.get(), timezone.now().date()
    found = []
    for row in Reservation.objects.filter(tenant=tenant_id).order_by("pk"):
        subjects = [Subject(f"t{tenant_id}", Limits())]
        if row.key_id is not None:
            subjects.append(Subject(f"k{row.key_id}", Limits()))
        price = prices.price(tenant_id, today, row.model, row.voice_kind)
        held = purse.of(price, {}, row.characters) if price and price.per_million else None
        ask = Ask(str(row.pk), tuple(subjects), row.characters, month, purse=held)
        found.append(ask)
    return found


def used(tenant_id: int, currency: str) -> int:
    """Millionths of the currency, of what was paid ahead."""
    return prepaid.used(tenant_id, currency, timezone.now())


def spent(since: datetime, tenant_id: int, key_id: int | None) -> int:
    """Characters charged since then: a tenant's, or one of its keys'."""
    scope = (
        {"tenant_id": tenant_id} if key_id is None else {"tenant_id": tenant_id, "key_id": key_id}
    )
    found = total(since, timezone.now(), ("billed_characters",), **scope)
    return int(found["billed_characters"])
