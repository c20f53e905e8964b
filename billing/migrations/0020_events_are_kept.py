"""Has Postgres itself keep what a settled event says: the database's owner is refused as well.

Nothing is asked when an event is written: both triggers look at changes and removals alone."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from billing.upkeep.guard import OPEN

# What is charged, or what a charge is reckoned by.
METERED = (
    *("id", "tenant_id", "key_id", "model", "voice", "voice_kind", "started_at", "outcome"),
    *("characters", "billed_characters", "top_up_characters", "price_version", "audio_ms"),
    *("frames", "text_tokens", "talker_ms", "predictor_ms", "codec_ms"),
)

FUNCTION = f"""
CREATE FUNCTION billing_keep_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('{OPEN}', true) = 'on' THEN
        IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        RAISE restrict_violation USING MESSAGE = format('usage event %s is never edited', OLD.id);
    END IF;
    -- Retention says from when on a tenant's events are kept before it removes older ones.
    IF EXISTS (
        SELECT FROM billing_retention
        WHERE tenant_id = OLD.tenant_id AND OLD.started_at < kept_from
    ) THEN
        RETURN OLD;
    END IF;
    RAISE restrict_violation USING MESSAGE = format('usage event %s is kept', OLD.id);
END $$
"""


def guard(apps: Any, schema_editor: Any) -> None:
    """On the whole table, and so on each partition, those to come as well."""
    if schema_editor.connection.vendor != "postgresql":
        return
    before, after = (", ".join(f"{row}.{name}" for name in METERED) for row in ("OLD", "NEW"))
    schema_editor.execute(FUNCTION, None)
    schema_editor.execute(
        "CREATE TRIGGER event_is_never_edited BEFORE UPDATE ON billing_usageevent FOR EACH ROW "
        f"WHEN (ROW({before}) IS DISTINCT FROM ROW({after})) "
        "EXECUTE FUNCTION billing_keep_event()",
        None,
    )
    schema_editor.execute(
        "CREATE TRIGGER event_is_kept BEFORE DELETE ON billing_usageevent FOR EACH ROW "
        "EXECUTE FUNCTION billing_keep_event()",
        None,
    )


def unguard(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION billing_keep_event() CASCADE", None)


class Migration(migrations.Migration):
    dependencies = [("billing", "0019_books_and_minimums_noted")]

    operations = [migrations.RunPython(guard, unguard)]
