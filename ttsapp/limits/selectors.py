"""What the ledger says was spent, and what a tenant is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.utils import timezone

from billing.credit import prepaid
from billing.rollups.selectors import total
from ttsapp.limits.rules import Limits
from ttsapp.tenants.models import Tenant


def of_tenant(tenant_id: int) -> tuple[Limits, Mapping[str, int] | None]:
    """Its limits and, if it pays ahead, its funds by currency."""
    return Tenant.objects.get(pk=tenant_id).limits, prepaid.funds([tenant_id]).get(tenant_id)


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
