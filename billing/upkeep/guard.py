"""Postgres refuses to edit settled events and what was billed, and to remove events but by
retention: here is the door.

Who moves events, or has to mend one by hand, says so first, in the same session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

# Named in migrations.
OPEN = "parlance.events_open"
KEEP_ALL = "billing_keep_all_events"


@contextmanager
def opened() -> Iterator[None]:
    """For what this thread does meanwhile, in one transaction: what fails opens nothing."""
    with transaction.atomic():
        _set("on")
        yield
        _set("off")


def keep_all(cursor: Any, table: str) -> None:
    """A partition's events are not removed all at once either. Of its table's triggers Postgres
    gives a partition those alone that look at single rows. Migrations make partitions before there
    is what this one calls: a later one makes up for it."""
    cursor.execute("SELECT to_regproc(%s) IS NOT NULL", [KEEP_ALL])
    if cursor.fetchone()[0]:
        cursor.execute(
            f"CREATE TRIGGER events_are_kept BEFORE TRUNCATE ON {table} "
            f"EXECUTE FUNCTION {KEEP_ALL}()"
        )


def _set(value: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config(%s, %s, true)", [OPEN, value])
