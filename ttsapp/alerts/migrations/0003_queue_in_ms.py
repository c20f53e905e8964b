"""The rule of the queue counted streams and measures the wait: thresholds that somebody chose for it
are of another unit. What it last said is said anew within a minute."""

from typing import Any

from django.db import migrations


def forget(apps: Any, schema_editor: Any) -> None:
    chosen = apps.get_model("alerts", "RuleChoice").objects.filter(rule="queue")
    chosen.update(warning=None, alert=None)


class Migration(migrations.Migration):
    dependencies = [("alerts", "0002_askings")]
    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
