"""Makes the usage events' table one of monthly partitions, in Postgres.

What was there stays where it is, as the first partition: nothing is copied."""

from typing import Any

from django.db import migrations
from django.utils import timezone

from billing.upkeep.partitions import REST, TABLE, Month, make

BEFORE = f"{TABLE}_before"


def partition(apps: Any, schema_editor: Any) -> None:
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        constraints, indexes = _definitions(cursor)
        cursor.execute(f"ALTER TABLE {TABLE} RENAME TO {BEFORE}")
        # The names are for the whole table. An index that makes a constraint lends it its name.
        for name, _ in indexes:
            cursor.execute(f'ALTER INDEX "{name}" RENAME TO "{_before(name)}"')
        columns = "INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
        cursor.execute(f"CREATE TABLE {TABLE} (LIKE {BEFORE} {columns}) PARTITION BY RANGE (id)")
        for name, definition in constraints:
            cursor.execute(f'ALTER TABLE {TABLE} ADD CONSTRAINT "{name}" {definition}')
        made = {name for name, _ in constraints}
        for name, definition in indexes:
            if name not in made:
                cursor.execute(definition)
        _, end = Month.of(timezone.now()).bounds
        cursor.execute(
            f"ALTER TABLE {TABLE} ATTACH PARTITION {BEFORE} "
            f"FOR VALUES FROM (MINVALUE) TO ('{end}')"
        )
        cursor.execute(f"CREATE TABLE {REST} PARTITION OF {TABLE} DEFAULT")
    make(timezone.now())


def _definitions(cursor: Any) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The primary and foreign keys, and the indexes, each as its statement."""
    cursor.execute(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE conrelid = %s::regclass AND contype IN ('p', 'f')",
        [TABLE],
    )
    constraints = cursor.fetchall()
    cursor.execute(
        "SELECT relname, pg_get_indexdef(indexrelid) FROM pg_index "
        "JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = %s::regclass",
        [TABLE],
    )
    return constraints, cursor.fetchall()


def _before(name: str) -> str:
    return f"{name[:56]}_before"


class Migration(migrations.Migration):
    dependencies = [("billing", "0008_sums_of_earlier_events")]

    operations = [migrations.RunPython(partition)]
