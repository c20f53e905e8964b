import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("speech", "0004_timelines_recordings"),
        ("tenants", "0008_text_days"),
    ]

    operations = [
        migrations.AddField(
            model_name="requestlog",
            name="asked",
            field=models.BinaryField(
                help_text="What decided its audio beside its text: `ttsapp.speech.asked`.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="KeptText",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("text", models.TextField()),
                ("instructions", models.TextField(db_default="", default="")),
                (
                    "tenant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [models.Index(fields=["tenant", "at"], name="texts_by_age")],
            },
        ),
    ]
