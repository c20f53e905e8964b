"""What the ledger says was spent, and what a tenant is allowed."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from billing.rollups.selectors import total
from ttsapp.limits.rules import Limits
from ttsapp.tenants.models import Tenant


def of_tenant(tenant_id: int) -> Limits:
    return Tenant.objects.get(pk=tenant_id).limits


def spent(since: datetime, tenant_id: int, key_id: int | None) -> int:
    """Characters charged since then: a tenant's, or one of its keys'."""
    scope = (
        {"tenant_id": tenant_id} if key_id is None else {"tenant_id": tenant_id, "key_id": key_id}
    )
    found = total(since, timezone.now(), ("billed_characters",), **scope)
    return int(found["billed_characters"])
