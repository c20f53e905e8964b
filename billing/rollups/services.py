"""Writing the sums, in the transaction of the events they add up.

So they are equal to the events at any moment; `rebuild` makes them again from the events alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import itemgetter

from django.db import connection, transaction

from billing.rollups.measures import DIMENSIONS, MEASURES, Place, Sums, added, measured
from billing.rollups.models import Grain, Rollup
from billing.rollups.selectors import comparable, days, from_events
from billing.statements import Row, add_up

_dimensions = itemgetter(*DIMENSIONS)


def add(events: Iterable[Row]) -> None:
    """Call it inside the transaction that inserts the events."""
    hours: defaultdict[Place, list[Sums]] = defaultdict(list)
    days: defaultdict[Place, list[Sums]] = defaultdict(list)
    for event in events:
        start = event["started_at"].replace(minute=0, second=0, microsecond=0)
        hours[Place(Grain.HOUR, start, *_dimensions(event))].append(measured(event))
    sums = {place: added(rows) for place, rows in hours.items()}
    for place, row in sums.items():
        days[place.day].append(row)
    sums |= {place: added(rows) for place, rows in days.items()}
    # In one order everywhere: two transactions that add to the same rows cannot block each other.
    add_up(Rollup, sorted(_rows(sums), key=lambda row: row["id"].int), tuple(MEASURES))


def rebuild(since: datetime, until: datetime) -> int:
    """Makes the sums of these UTC days from the events again; returns how many rows they have.

    Safe while requests are settled. Days whose events a tenant's retention has removed stay."""
    return sum(_rebuild_day(day) for day in days(since, until))


@transaction.atomic
def _rebuild_day(day: datetime) -> int:
    _hold_writers()
    right = from_events(day)
    rows = _rows({place: tuple(sums[name] for name in MEASURES) for place, sums in right.items()})
    comparable(day).delete()
    return len(Rollup.objects.bulk_create([Rollup(**row) for row in rows], batch_size=500))


def _hold_writers() -> None:
    """Whoever has added to the sums commits first; whoever has not yet waits. SQLite's own
    transactions are like that."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE billing_rollup IN SHARE ROW EXCLUSIVE MODE")


def _rows(sums: Mapping[Place, Sums]) -> list[Row]:
    return [
        {
            "id": place.id,
            "grain": place.grain.value,
            "start": place.start,
            **{name: getattr(place, name) for name in DIMENSIONS},
            **dict(zip(MEASURES, row, strict=True)),
        }
        for place, row in sums.items()
    ]
