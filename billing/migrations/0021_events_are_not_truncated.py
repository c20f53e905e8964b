"""Has Postgres refuse to empty the usage events' table as well, which asks for no single event."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from billing.upkeep import guard
from billing.upkeep.partitions import TABLE

FUNCTION = f"""
CREATE FUNCTION {guard.KEEP_ALL}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('{guard.OPEN}', true) = 'on' THEN RETURN NULL; END IF;
    RAISE restrict_violation USING MESSAGE = format('usage events are kept in %s', TG_TABLE_NAME);
END $$
"""


def keep(apps: Any, schema_editor: Any) -> None:
    """On each partition too: what is asked of one alone reaches no trigger of the whole table."""
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute(FUNCTION, None)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT relid::regclass::text FROM pg_partition_tree(%s)", [TABLE])
        for (table,) in cursor.fetchall():
            guard.keep_all(cursor, table)


def let_go(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP FUNCTION {guard.KEEP_ALL}() CASCADE", None)


class Migration(migrations.Migration):
    dependencies = [("billing", "0020_events_are_kept")]

    operations = [migrations.RunPython(keep, let_go)]
