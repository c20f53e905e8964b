"""What a tenant used over time, by what it was used for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Sum
from django.db.models.functions import Trunc

from billing.models import UsageEvent

MEASURES: dict[str, Any] = {
    "characters": Sum("billed_characters", default=0),
    "requests": Count("id"),
    "audio_ms": Sum("audio_ms", default=0),
}
# The column that a break-down goes by; None: everything in one.
BREAKDOWNS: dict[str, str | None] = {
    "none": None,
    "voice": "voice",
    "model": "model",
    "key": "key__name",
}
INTERVALS = ("hour", "day", "week", "month", "cumulative")
EVERYTHING = "All"
_STEPS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True)
class Statistics:
    """`values` of each part at each of `starts`, in UTC."""

    starts: list[datetime]
    values: dict[str, list[int]]


def statistics(
    tenant_id: int,
    starts: list[datetime],
    until: datetime,
    interval: str,
    measure: str,
    breakdown: str,
) -> Statistics:
    """From the first of `starts` (see `axis`) to `until`, which is not in it."""
    places = {start: place for place, start in enumerate(starts)}
    values: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(starts))
    if BREAKDOWNS[breakdown] is None:
        values[EVERYTHING]
    for start, name, value in _rows(tenant_id, starts[0], until, interval, measure, breakdown):
        values[name][places[start] if interval != "cumulative" else 0] += value
    return Statistics(starts, dict(values))


def axis(since: datetime, until: datetime, interval: str, most: int) -> list[datetime]:
    """The beginnings of the intervals that the range touches; one more than `most` at most."""
    if interval == "cumulative":
        return [since]
    start = since.replace(minute=0, second=0, microsecond=0)
    if interval != "hour":
        start = start.replace(hour=0)
    if interval == "week":
        start -= timedelta(days=start.weekday())
    if interval == "month":
        start = start.replace(day=1)
    starts: list[datetime] = []
    while start < until and len(starts) <= most:
        starts.append(start)
        start = _next(start, interval)
    return starts


def charged(tenant_id: int, requests: Iterable[UUID]) -> dict[UUID, int]:
    """Characters charged for these requests; what was refused has no entry."""
    found = UsageEvent.objects.filter(tenant_id=tenant_id, pk__in=list(requests))
    return dict(found.values_list("pk", "billed_characters"))


def _rows(
    tenant_id: int, since: datetime, until: datetime, interval: str, measure: str, breakdown: str
) -> list[tuple[datetime, str, int]]:
    events: Any = UsageEvent.objects.filter(
        tenant_id=tenant_id, started_at__gte=since, started_at__lt=until
    ).order_by()
    columns = []
    if interval != "cumulative":
        events = events.annotate(start=Trunc("started_at", interval, tzinfo=UTC))
        columns.append("start")
    column = BREAKDOWNS[breakdown]
    if column is not None:
        columns.append(column)
    # Without a column there is one group, which is there even when it is empty.
    rows = events.values(*columns) if columns else events.values("tenant_id")
    return [
        (row.get("start", since), str(row[column] or "") if column else EVERYTHING, row["sum"])
        for row in rows.annotate(sum=MEASURES[measure])
    ]


def _next(start: datetime, interval: str) -> datetime:
    if interval == "month":
        return (start + timedelta(days=32)).replace(day=1)
    return start + _STEPS[interval]
