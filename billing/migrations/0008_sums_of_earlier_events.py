"""Adds up the events that were there before their sums were kept, a day at a time."""

from datetime import timedelta
from typing import Any

from django.db import migrations


def add_up(apps: Any, schema_editor: Any) -> None:
    events = apps.get_model("billing", "UsageEvent").objects.order_by("pk")
    first, last = events.first(), events.last()
    if first is None:
        return
    # The code of this version: whoever upgrades over several runs the last one's.
    from billing.rollups.services import rebuild

    rebuild(first.started_at, last.started_at + timedelta(milliseconds=1))


class Migration(migrations.Migration):
    # Each day is a transaction of its own.
    atomic = False

    dependencies = [("billing", "0007_next_month_to_invoice")]

    operations = [migrations.RunPython(add_up, migrations.RunPython.noop, elidable=True)]
