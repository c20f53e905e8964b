"""Postgres refuses to edit settled events, and to remove them but by retention: here is the door.

Who moves events, or has to mend one by hand, says so first, in the same session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

# Named in a migration.
OPEN = "parlance.events_open"


@contextmanager
def opened() -> Iterator[None]:
    """For what this thread does meanwhile, in one transaction: what fails opens nothing."""
    with transaction.atomic():
        _set("on")
        yield
        _set("off")


def _set(value: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config(%s, %s, true)", [OPEN, value])
