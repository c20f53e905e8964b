"""Reading the ledger, always through a tenant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q, Sum
from django.utils import timezone

from billing.models import Reservation, UsageEvent
from billing.rating import Outcome
from ttsapp.tenants.models import Tenant


@dataclass(frozen=True, slots=True)
class UsageSum:
    """What a tenant used since a moment."""

    since: datetime
    requests: int
    characters: int
    billed_characters: int
    audio_ms: int
    failures: int

    @property
    def audio_minutes(self) -> float:
        return self.audio_ms / 60_000


def today(tenant: Tenant) -> UsageSum:
    """Since midnight UTC."""
    return usage_since(tenant, _midnight())


def this_month(tenant: Tenant) -> UsageSum:
    """Since the first of the month, UTC."""
    return usage_since(tenant, _midnight().replace(day=1))


def usage_since(tenant: Tenant, since: datetime) -> UsageSum:
    failed = Q(outcome__in=(Outcome.FAILED, Outcome.LOST))
    sums = UsageEvent.objects.filter(tenant=tenant, started_at__gte=since).aggregate(
        requests=Count("id"),
        characters=Sum("characters", default=0),
        billed_characters=Sum("billed_characters", default=0),
        audio_ms=Sum("audio_ms", default=0),
        failures=Count("id", filter=failed),
    )
    return UsageSum(since=since, **sums)


def event(tenant_id: int, request_id: UUID) -> UsageEvent | None:
    return UsageEvent.objects.filter(tenant_id=tenant_id, pk=request_id).first()


def is_open(tenant_id: int, request_id: UUID) -> bool:
    """Whether the engine is (as far as the ledger knows) working on it."""
    return Reservation.objects.filter(tenant_id=tenant_id, pk=request_id).exists()


def open_reservations() -> int:
    return Reservation.objects.count()


def _midnight() -> datetime:
    return timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
