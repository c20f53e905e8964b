from typing import Any

from django.db import migrations, models
from django.db.models import F
from django.db.models.lookups import IsNull


def end_open_ones(apps: Any, schema_editor: Any) -> None:
    """Some may have been asked for twice: the next one that is asked for will do."""
    open_ones = apps.get_model("billing", "LedgerCheck").objects.filter(ended_at=None)
    open_ones.exclude(asked_by="").update(ended_at=F("asked_at"), problem="given up by an upgrade")


class Migration(migrations.Migration):
    dependencies = [("billing", "0016_reserved_voice_kind")]

    operations = [
        migrations.RunPython(end_open_ones, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="ledgercheck",
            constraint=models.UniqueConstraint(
                IsNull(F("ended_at"), True),
                condition=models.Q(("ended_at", None), models.Q(("asked_by", ""), _negated=True)),
                name="one_check_asked_for",
            ),
        ),
    ]
