"""Which book an event was priced by, and what an invoice topped up: no row is rewritten for it."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0018_default_books"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="top_up_characters",
            field=models.PositiveBigIntegerField(
                help_text="Of its lines' characters, those that no text has: prices' minimums a request. None: a credit note, or issued before they were noted.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="documentline",
            name="price_book",
            field=models.CharField(blank=True, db_default="", default="", max_length=50),
        ),
        migrations.AddField(
            model_name="usageevent",
            name="price_book",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Whose version that is. Empty: there was none, or nothing noted it yet.",
                max_length=50,
            ),
        ),
    ]
