"""Removing what a tenant no longer wants kept. Its sums, and so its invoices, stay."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from billing.models import Retention, UsageEvent
from billing.upkeep.models import FEWEST_DAYS, MOST_DAYS
from ttsapp import ids
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import invalid
from ttsapp.tenants.models import Tenant

BATCH = 5000


@transaction.atomic
def keep_for(actor: Actor, tenant: Tenant, days: int | None) -> None:
    """How long its usage events are kept from now on; None: for ever. Raises ApiError 400."""
    if days is not None and not FEWEST_DAYS <= days <= MOST_DAYS:
        raise invalid(f"Usage events are kept {FEWEST_DAYS} to {MOST_DAYS} days.", "days")
    kept, _ = Retention.objects.select_for_update().get_or_create(tenant=tenant)
    before, kept.days = kept.days, days
    kept.save(update_fields=["days"])
    record(actor, Action.RETENTION_CHANGED, tenant, tenant.slug, changes={"days": [before, days]})


def remove_old(now: datetime | None = None) -> int:
    """Removes events that are older than their tenants keep them; returns how many.

    It may run at any time, twice, or on several machines at once."""
    today = (now or timezone.now()).replace(hour=0, minute=0, second=0, microsecond=0)
    removed = 0
    for kept in Retention.objects.filter(days__isnull=False).order_by("pk"):
        assert kept.days is not None
        removed += _remove(kept.tenant_id, today - timedelta(days=kept.days))
    return removed


def _remove(tenant_id: int, until: datetime) -> int:
    # Before the first of them goes: from here on their sums are not compared with them.
    older = Retention.objects.filter(tenant_id=tenant_id).exclude(kept_from__gte=until)
    older.update(kept_from=until)
    old = UsageEvent.objects.filter(tenant_id=tenant_id, pk__lt=ids.lowest(until)).order_by()
    removed = 0
    while batch := list(old.values_list("pk", flat=True)[:BATCH]):
        removed += UsageEvent.objects.filter(pk__in=batch).delete()[0]
    return removed
