"""Reading the sums: of whole days and hours from the rollups, of parts of an hour from events."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import add
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, F, QuerySet, Sum
from django.db.models.functions import Cast, Trunc, TruncHour
from django.utils import timezone

from billing.models import Retention, UsageEvent
from billing.rollups.measures import DIMENSIONS, MEASURES, Place
from billing.rollups.models import Grain, Rollup
from billing.statements import read_rows
from ttsapp import ids

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a range, and what it is read from; `grain` None: the events."""

    grain: Grain | None
    since: datetime
    until: datetime


def sums(
    since: datetime,
    until: datetime,
    measures: Sequence[str],
    by: Sequence[str] = (),
    interval: str | None = None,
    **scope: Any,
) -> list[Row]:
    """Rows of `by` (columns of an event), `start` (of the `interval`: hour, day, week or month,
    UTC) and `measures`. `since` is in the range, `until` is not. `scope` filters: `tenant_id=1`.

    Without `by` and `interval` there is one row, of zeros if nothing was used."""
    names = (*(("start",) if interval else ()), *by, *measures)
    places = len(names) - len(measures)
    added: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    if not places:
        added[()] = (0,) * len(measures)
    for span in spans(since, until, finest=interval):
        for row in _of_span(span, measures, by, interval, scope):
            place = row[:places]
            have = added.get(place)
            added[place] = row if have is None else (*place, *map(add, have[places:], row[places:]))
    return [dict(zip(names, row, strict=True)) for row in added.values()]


def total(since: datetime, until: datetime, measures: Sequence[str], **scope: Any) -> Row:
    """The sums over all of a range."""
    return sums(since, until, measures, **scope)[0]


def spans(since: datetime, until: datetime, finest: str | None = None) -> Iterator[Span]:
    """The range in at most five parts, each from the coarsest sums that fit. Nothing is later than
    now: a range that ends there ends with its hour."""
    if until >= timezone.now():
        until = _up(until, HOUR)
    first, last = _up(since, HOUR), _down(until, HOUR)
    if first >= last:
        yield from _span(None, since, until)
        return
    yield from _span(None, since, first)
    begin, end = _up(first, DAY), _down(last, DAY)
    if begin >= end or finest == "hour":
        yield from _span(Grain.HOUR, first, last)
    else:
        yield from _span(Grain.HOUR, first, begin)
        yield from _span(Grain.DAY, begin, end)
        yield from _span(Grain.HOUR, end, last)
    yield from _span(None, last, until)


def days(since: datetime, until: datetime) -> Iterator[datetime]:
    """The UTC days that the range touches."""
    day = _down(since, DAY)
    while day < until:
        yield day
        day += DAY


def from_events(day: datetime) -> dict[Place, Counter[str]]:
    """What the rows of a UTC day should be, hourly and daily."""
    events: Any = _kept(UsageEvent.objects.filter(**of_time(day, day + DAY)), day).order_by()
    hours = events.annotate(start=TruncHour("started_at", tzinfo=UTC)).values("start", *DIMENSIONS)
    added: defaultdict[Place, Counter[str]] = defaultdict(Counter)
    for row in hours.annotate(**{f"sum_{name}": value for name, value in MEASURES.items()}):
        hour = Place(Grain.HOUR, row["start"], *(row[name] for name in DIMENSIONS))
        for place in (hour, hour.day):
            added[place].update({name: row[f"sum_{name}"] for name in MEASURES})
    return added


def comparable(day: datetime) -> QuerySet[Rollup]:
    """The rows of a UTC day that can still be compared with events."""
    return _kept(Rollup.objects.filter(start__gte=day, start__lt=day + DAY), day)


def of_time(since: datetime, until: datetime) -> dict[str, UUID]:
    """A filter on events. By id, which partitions and indexes go by, and which sorts by time."""
    return {"pk__gte": ids.lowest(since), "pk__lt": ids.lowest(until)}


def _of_span(
    span: Span, measures: Sequence[str], by: Sequence[str], interval: str | None, scope: Row
) -> Iterable[tuple[Any, ...]]:
    """The interval's beginning if there is one, then `by`, then the measures."""
    rows: Any
    if span.grain is None:
        rows = UsageEvent.objects.filter(**of_time(span.since, span.until), **scope)
        found = {f"sum_{name}": _whole(MEASURES[name]) for name in measures}
    else:
        rows = Rollup.objects.filter(
            grain=span.grain, start__gte=span.since, start__lt=span.until, **scope
        )
        found = {f"sum_{name}": _whole(Sum(name, default=0)) for name in measures}
    columns = list(by)
    if interval:
        rows = rows.annotate(interval=_beginning(span.grain, interval))
        columns.insert(0, "interval")
    if not columns:
        return [tuple(rows.aggregate(**found).values())]
    return read_rows(
        rows.order_by().values(*columns).annotate(**found).values_list(*columns, *found)
    )


def _beginning(grain: Grain | None, interval: str) -> Any:
    if grain is None:
        return Trunc("started_at", interval, tzinfo=UTC)
    return F("start") if grain == interval else Trunc("start", interval, tzinfo=UTC)


def _whole(value: Any) -> Any:
    """Postgres adds up to decimals."""
    return Cast(value, BigIntegerField())


def _kept(rows: QuerySet[Any], day: datetime) -> QuerySet[Any]:
    """Without tenants whose events of that day are gone."""
    gone = Retention.objects.filter(kept_from__gt=day).values("tenant_id")
    return rows.exclude(tenant_id__in=gone)


def _span(grain: Grain | None, since: datetime, until: datetime) -> Iterator[Span]:
    if since < until:
        yield Span(grain, since, until)


def _down(moment: datetime, step: timedelta) -> datetime:
    """The beginning of its UTC hour or day."""
    moment = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return moment.replace(hour=0) if step == DAY else moment


def _up(moment: datetime, step: timedelta) -> datetime:
    down = _down(moment, step)
    return down if down == moment else down + step
