from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("voices", "0004_aliases"),
    ]

    operations = [
        migrations.AddField(
            model_name="voice",
            name="stage",
            field=models.CharField(
                choices=[
                    ("draft", "not published"),
                    ("review", "in review"),
                    ("refused", "refused"),
                    ("live", "published"),
                ],
                db_default="live",
                default="live",
                editable=False,
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="voice",
            name="review_note",
            field=models.CharField(
                blank=True, db_default="", default="", editable=False, max_length=300
            ),
        ),
    ]
