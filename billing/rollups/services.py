"""Writing the sums, in the transaction of the events they add up.

So they are equal to the events at any moment; `rebuild` makes them again from the events alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import connection, transaction

from billing.models import UsageEvent
from billing.rollups.measures import DIMENSIONS, MEASURES, Place, measured
from billing.rollups.models import Grain, Rollup
from billing.rollups.selectors import comparable, days, from_events
from billing.statements import add_up


def add(events: Iterable[UsageEvent]) -> None:
    """Call it inside the transaction that inserts the events."""
    sums: defaultdict[Place, Counter[str]] = defaultdict(Counter)
    for event in events:
        start = event.started_at.replace(minute=0, second=0, microsecond=0)
        hour = Place(Grain.HOUR, start, *(getattr(event, name) for name in DIMENSIONS))
        for place in (hour, hour.day):
            sums[place].update(measured(event))
    # In one order everywhere: two transactions that add to the same rows cannot block each other.
    add_up(sorted(_rows(sums), key=lambda row: row.pk), tuple(MEASURES))


def rebuild(since: datetime, until: datetime) -> int:
    """Makes the sums of these UTC days from the events again; returns how many rows they have.

    Safe while requests are settled. Days whose events a tenant's retention has removed stay."""
    return sum(_rebuild_day(day) for day in days(since, until))


@transaction.atomic
def _rebuild_day(day: datetime) -> int:
    _hold_writers()
    rows = _rows(from_events(day))
    comparable(day).delete()
    return len(Rollup.objects.bulk_create(rows, batch_size=500))


def _hold_writers() -> None:
    """Whoever has added to the sums commits first; whoever has not yet waits. SQLite's own
    transactions are like that."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE billing_rollup IN SHARE ROW EXCLUSIVE MODE")


def _rows(sums: Mapping[Place, Mapping[str, int]]) -> list[Rollup]:
    return [
        Rollup(
            id=place.id,
            grain=place.grain,
            start=place.start,
            **{name: getattr(place, name) for name in DIMENSIONS},
            **{name: added[name] for name in MEASURES},
        )
        for place, added in sums.items()
    ]
