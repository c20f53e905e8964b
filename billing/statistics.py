"""What a tenant used over time, by what it was used for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.rollups.selectors import sums
from ttsapp.keys.models import ApiKey

# Each as the rollups call it.
MEASURES = {
    "characters": "billed_characters",
    "requests": "requests",
    "audio_ms": "audio_ms",
}
# The column that a break-down goes by; None: everything in one.
BREAKDOWNS: dict[str, str | None] = {
    "none": None,
    "voice": "voice",
    "model": "model",
    "key": "key_id",
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


def _rows(
    tenant_id: int, since: datetime, until: datetime, interval: str, measure: str, breakdown: str
) -> list[tuple[datetime, str, int]]:
    name, column = MEASURES[measure], BREAKDOWNS[breakdown]
    rows = sums(
        since,
        until,
        (name,),
        by=(column,) if column else (),
        interval=None if interval == "cumulative" else interval,
        tenant_id=tenant_id,
    )
    names = _key_names(tenant_id) if column == "key_id" else {}
    return [
        (row.get("start", since), _name(row.get(column or ""), column, names), row[name])
        for row in rows
    ]


def _name(value: object, column: str | None, names: dict[int, str]) -> str:
    if column is None:
        return EVERYTHING
    return names.get(value, "") if isinstance(value, int) else str(value or "")


def _key_names(tenant_id: int) -> dict[int, str]:
    return dict(ApiKey.objects.filter(tenant_id=tenant_id).values_list("pk", "name"))


def _next(start: datetime, interval: str) -> datetime:
    if interval == "month":
        return (start + timedelta(days=32)).replace(day=1)
    return start + _STEPS[interval]
