"""Sums over the ledger for people: by hour, by day, by key, always of one tenant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncDay, TruncHour

from billing.models import UsageEvent
from billing.rating import Outcome
from ttsapp.tenants.models import Tenant

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# The console's own test sentences have no key.
CONSOLE = "console"


@dataclass(frozen=True, slots=True)
class Used:
    """What was used. `charged`: characters that are charged for."""

    requests: int = 0
    characters: int = 0
    charged: int = 0
    audio_ms: int = 0
    failures: int = 0

    @property
    def audio_minutes(self) -> float:
        return self.audio_ms / 60_000

    @property
    def audio_seconds(self) -> float:
        return self.audio_ms / 1000


@dataclass(frozen=True, slots=True)
class Period:
    """One hour or day, UTC, with what was used in it."""

    start: datetime
    used: Used


@dataclass(frozen=True, slots=True)
class KeyUse:
    """One key's share; `public_id` is empty for the console's own."""

    name: str
    public_id: str
    used: Used
    day: datetime | None = None


def between(tenant: Tenant, since: datetime, until: datetime) -> Used:
    """`since` is in it, `until` is not."""
    return _used(_events(tenant, since, until).aggregate(**_SUMS))


def by_hour(tenant: Tenant, since: datetime, until: datetime) -> list[Period]:
    """Every hour that begins in the range, empty ones too."""
    return _periods(_events(tenant, since, until), TruncHour, since, until, HOUR)


def by_day(tenant: Tenant, since: datetime, until: datetime) -> list[Period]:
    """Every UTC day that begins in the range, empty ones too."""
    return _periods(_events(tenant, since, until), TruncDay, since, until, DAY)


def by_key(tenant: Tenant, since: datetime, until: datetime) -> list[KeyUse]:
    """Who used most comes first."""
    rows: Any = _events(tenant, since, until).values("key__name", "key__public_id")
    rows = rows.annotate(**_SUMS).order_by("-sum_charged", _CONSOLE_LAST)
    return [_key_use(row) for row in rows]


def by_day_and_key(tenant: Tenant, since: datetime, until: datetime) -> list[KeyUse]:
    """Oldest day first; only days with use."""
    rows = _events(tenant, since, until).annotate(day=TruncDay("started_at", tzinfo=UTC))
    sums: Any = rows.values("day", "key__name", "key__public_id").annotate(**_SUMS)
    sums = sums.order_by("day", _CONSOLE_LAST)
    return [replace(_key_use(row), day=row["day"]) for row in sums]


def charges(tenant: Tenant, requests: Iterable[UUID]) -> dict[UUID, int]:
    """Characters charged for these requests; what was refused has no entry."""
    found = UsageEvent.objects.filter(tenant=tenant, pk__in=list(requests))
    return dict(found.values_list("pk", "billed_characters"))


# Databases differ on where nothing sorts.
_CONSOLE_LAST = F("key__public_id").asc(nulls_last=True)

# Prefixed, because an annotation may not have the name of a field.
_SUMS: dict[str, Any] = {
    "sum_requests": Count("id"),
    "sum_characters": Sum("characters", default=0),
    "sum_charged": Sum("billed_characters", default=0),
    "sum_audio_ms": Sum("audio_ms", default=0),
    "sum_failures": Count("id", filter=Q(outcome__in=(Outcome.FAILED, Outcome.LOST))),
}


def _events(tenant: Tenant, since: datetime, until: datetime) -> QuerySet[UsageEvent]:
    found = UsageEvent.objects.filter(tenant=tenant, started_at__gte=since, started_at__lt=until)
    return found.order_by()


def _used(row: dict[str, Any]) -> Used:
    return Used(**{name.removeprefix("sum_"): row[name] for name in _SUMS})


def _key_use(row: dict[str, Any]) -> KeyUse:
    return KeyUse(row["key__name"] or CONSOLE, row["key__public_id"] or "", _used(row))


def _periods(
    events: QuerySet[UsageEvent],
    truncate: type[TruncHour] | type[TruncDay],
    since: datetime,
    until: datetime,
    step: timedelta,
) -> list[Period]:
    sums: Any = events.annotate(start=truncate("started_at", tzinfo=UTC)).values("start")
    found = {row["start"]: _used(row) for row in sums.annotate(**_SUMS)}
    start, periods = since, []
    while start < until:
        periods.append(Period(start, found.get(start, Used())))
        start += step
    return periods
