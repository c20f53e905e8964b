import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0006_engine_share"),
    ]

    operations = [
        migrations.AddField(
            model_name="tenant",
            name="audio_hours",
            field=models.PositiveSmallIntegerField(
                db_default=0,
                default=0,
                editable=False,
                help_text=(
                    "That requests' audio is kept, to be heard again in the console; 0: not at all."
                ),
                validators=[django.core.validators.MaxValueValidator(720)],
            ),
        ),
    ]
