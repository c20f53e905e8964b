from datetime import date
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

ALWAYS = date(2000, 1, 1)


def keep_the_default(apps: Any, schema_editor: Any) -> None:
    books = apps.get_model("billing", "PriceBook").objects.filter(is_default=True)
    for book in books:
        apps.get_model("billing", "DefaultBook").objects.create(book=book, from_month=ALWAYS)


class Migration(migrations.Migration):
    dependencies = [("billing", "0017_one_check_asked_for")]

    operations = [
        migrations.CreateModel(
            name="DefaultBook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "from_month",
                    models.DateField(help_text="The first of a month, UTC.", unique=True),
                ),
                (
                    "book",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="defaults",
                        to="billing.pricebook",
                    ),
                ),
            ],
            options={"ordering": ("from_month",)},
        ),
        migrations.RunPython(keep_the_default, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="pricebook", name="one_default_price_book"),
        migrations.RemoveField(model_name="pricebook", name="is_default"),
    ]
