"""What the ledger says was spent, and what a tenant is allowed."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Sum

from billing.models import UsageEvent
from ttsapp.limits.rules import Limits
from ttsapp.tenants.models import Tenant


def of_tenant(tenant_id: int) -> Limits:
    return Tenant.objects.get(pk=tenant_id).limits


def spent(since: datetime, tenant_id: int, key_id: int | None) -> int:
    """Characters charged since then: a tenant's, or one of its keys'."""
    events = UsageEvent.objects.filter(tenant_id=tenant_id, started_at__gte=since)
    if key_id is not None:
        events = events.filter(key_id=key_id)
    return int(events.aggregate(sum=Sum("billed_characters", default=0))["sum"])
