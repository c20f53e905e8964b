import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0007_audio_hours"),
    ]

    operations = [
        migrations.AddField(
            model_name="tenant",
            name="text_days",
            field=models.PositiveSmallIntegerField(
                db_default=0,
                default=0,
                editable=False,
                help_text="That requests' texts are kept, masked in the console; 0: not at all.",
                validators=[django.core.validators.MaxValueValidator(365)],
            ),
        ),
    ]
