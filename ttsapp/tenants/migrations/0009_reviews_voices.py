from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0008_text_days"),
    ]

    operations = [
        migrations.AddField(
            model_name="tenant",
            name="reviews_voices",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="A clone waits until an owner or admin approves it.",
            ),
        ),
    ]
