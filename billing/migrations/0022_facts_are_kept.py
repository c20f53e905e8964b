"""Has Postgres keep documents, their lines and entries of prepaid credit, as it keeps events."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from billing.upkeep.guard import OPEN

TABLES = ("billing_document", "billing_documentline", "billing_creditentry")

FUNCTION = f"""
CREATE FUNCTION billing_keep_fact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('{OPEN}', true) = 'on' THEN RETURN coalesce(NEW, OLD); END IF;
    RAISE restrict_violation USING
        MESSAGE = format('rows of %s are never edited or removed', TG_TABLE_NAME);
END $$
"""


def guard(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute(FUNCTION, None)
    for table in TABLES:
        schema_editor.execute(
            f"CREATE TRIGGER fact_is_kept BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION billing_keep_fact()",
            None,
        )
        schema_editor.execute(
            f"CREATE TRIGGER facts_are_kept BEFORE TRUNCATE ON {table} "
            "EXECUTE FUNCTION billing_keep_fact()",
            None,
        )


def unguard(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION billing_keep_fact() CASCADE", None)


class Migration(migrations.Migration):
    dependencies = [("billing", "0021_events_are_not_truncated")]

    operations = [migrations.RunPython(guard, unguard)]
