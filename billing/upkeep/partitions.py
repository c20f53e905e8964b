"""A month of usage events is a partition, in Postgres; SQLite keeps them in one table.

Partitions go by the id, which sorts by time: so the id alone can be the table's key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from billing.upkeep.guard import keep_all, opened
from ttsapp import ids

TABLE = "billing_usageevent"
# Takes what no other partition does, so that no event is ever refused.
REST = f"{TABLE}_rest"
MONTHS_AHEAD = 3

_LOCK = 0x70617274  # one maker at a time, whoever runs it
_BOUND = re.compile(r"FROM \((?:MINVALUE|'([0-9a-f-]+)')\) TO \('([0-9a-f-]+)'\)")


@dataclass(frozen=True, slots=True)
class Month:
    """A calendar month, UTC."""

    start: datetime

    @classmethod
    def of(cls, moment: datetime) -> Month:
        moment = moment.astimezone(UTC)
        return cls(datetime(moment.year, moment.month, 1, tzinfo=UTC))

    @property
    def next(self) -> Month:
        return Month.of(self.start + timedelta(days=31))

    @property
    def table(self) -> str:
        return f"{TABLE}_{self.start:%Y_%m}"

    @property
    def bounds(self) -> tuple[UUID, UUID]:
        return ids.lowest(self.start), ids.lowest(self.next.start)


def months(now: datetime, ahead: int = MONTHS_AHEAD) -> Iterator[Month]:
    """The one that it is, and those that follow."""
    month = Month.of(now)
    for _ in range(ahead + 1):
        yield month
        month = month.next


def make(now: datetime, ahead: int = MONTHS_AHEAD) -> list[str]:
    """Makes the partitions that are missing, and moves into them what had no other place."""
    if connection.vendor != "postgresql":
        return []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        wanted = missing(now, ahead)
        for month in wanted:
            _make(month)
    return [month.table for month in wanted]


def missing(now: datetime, ahead: int = 1) -> list[Month]:
    """Of this month and the next; none where there are no partitions."""
    if connection.vendor != "postgresql":
        return []
    ranges = _ranges()
    return [month for month in months(now, ahead) if not _is_covered(month, ranges)]


def unplaced() -> int:
    """How many events are in no month's partition."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {REST}")
        return int(cursor.fetchone()[0])


def _make(month: Month) -> None:
    low, high = month.bounds
    columns = "INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
    with opened(), connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {month.table} (LIKE {TABLE} {columns})")
        cursor.execute(
            f"WITH moved AS (DELETE FROM {REST} WHERE id >= %s AND id < %s RETURNING *) "
            f"INSERT INTO {month.table} SELECT * FROM moved",
            [low, high],
        )
        bounds = f"FROM ('{low}') TO ('{high}')"
        cursor.execute(f"ALTER TABLE {TABLE} ATTACH PARTITION {month.table} FOR VALUES {bounds}")
        keep_all(cursor, month.table)


def _ranges() -> list[tuple[UUID, UUID]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_expr(child.relpartbound, child.oid) FROM pg_inherits "
            "JOIN pg_class child ON child.oid = inhrelid WHERE inhparent = %s::regclass",
            [TABLE],
        )
        found = [_BOUND.search(bound) for (bound,) in cursor.fetchall()]
    return [(UUID(match[1] or "0" * 32), UUID(match[2])) for match in found if match]


def _is_covered(month: Month, ranges: list[tuple[UUID, UUID]]) -> bool:
    low, high = month.bounds
    return any(begin <= low and high <= end for begin, end in ranges)
