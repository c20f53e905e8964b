"""Adds up events, sums, limit counters and invoices, and tells where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from billing.models import Reservation
from billing.rollups.measures import DIMENSIONS, MEASURES, Place
from billing.rollups.models import Grain, Rollup
from billing.rollups.selectors import comparable, days, from_events
from billing.upkeep import partitions
from billing.upkeep.counters import counters
from billing.upkeep.findings import Difference, note
from billing.upkeep.invoices import invoices
from billing.upkeep.tally import Source, Tally

SUMS, RESERVATIONS, PARTITIONS = "sums", "reservations", "partitions"
CHECKS = (SUMS, RESERVATIONS, PARTITIONS, "counters", "invoices")
# Differences told one by one: after that many the remedy is the same.
MOST_TOLD = 100


def reconcile(since: datetime, until: datetime, tally: Tally | None = None) -> list[Difference]:
    """Every check over the UTC days of the range. What is found is noted for the operators, what is
    added up goes to the `tally`."""
    tally = tally or Tally()
    found = [
        *_in_one_snapshot(since, until, tally),
        *counters(tally),
        *_missing_partitions(),
    ]
    note(CHECKS, found)
    return found


def _in_one_snapshot(since: datetime, until: datetime, tally: Tally) -> list[Difference]:
    """Requests that are settled meanwhile are in all of it or in none."""
    with _snapshot():
        found = [each for day in days(since, until) for each in sums(day, tally)][:MOST_TOLD]
        return [*found, *invoices(since, until, tally), *_forgotten_reservations()]


def sums(day: datetime, tally: Tally) -> Iterator[Difference]:
    """Where the rows of a day are not what its events add up to."""
    right, rows = from_events(day), list(comparable(day))
    for grain in Grain:
        added = sum(row.billed_characters for row in rows if row.grain == grain)
        events = sum(used["billed_characters"] for at, used in right.items() if at.grain == grain)
        tally.add(Source(grain.value), added, events)
    for row in rows:
        place = Place(Grain(row.grain), row.start, *(getattr(row, name) for name in DIMENSIONS))
        expected = right.pop(place, Counter[str]())
        wrong = [name for name in MEASURES if getattr(row, name) != expected[name]]
        if wrong:
            yield _difference(place, row, expected[wrong[0]], wrong[0])
    for place, expected in right.items():
        yield _difference(place, None, expected["requests"], "requests")


def _difference(place: Place, row: Rollup | None, right: int, name: str) -> Difference:
    subject = (
        f"{place.grain.value} {place.start:%Y-%m-%d %H:%M}, tenant {place.tenant_id}, "
        f"key {place.key_id or 'none'}, {place.model}, {place.voice}"
    )
    has = getattr(row, name) if row is not None else 0
    remedy = "rebuild_rollups makes the sums of the day again"
    return Difference(SUMS, subject, f"{name}: {has}, and its events say {right}; {remedy}")


def _forgotten_reservations() -> Iterator[Difference]:
    limit = timezone.now() - timedelta(seconds=2 * settings.ORPHAN_SECONDS)
    count = Reservation.objects.filter(created_at__lte=limit).count()
    if count:
        detail = f"{count} should have been settled long ago: does the worker run?"
        yield Difference(RESERVATIONS, "abandoned reservations", detail)


def _missing_partitions() -> Iterator[Difference]:
    for month in partitions.missing(timezone.now()):
        detail = "events of that month go to the rest; the worker makes it: does it run?"
        yield Difference(PARTITIONS, month.table, detail)
    if count := partitions.unplaced():
        detail = f"{count} events are of months that had no partition"
        yield Difference(PARTITIONS, partitions.REST, detail)


@contextmanager
def _snapshot() -> Iterator[None]:
    with transaction.atomic():
        if connection.vendor == "postgresql" and not connection.savepoint_ids:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield
