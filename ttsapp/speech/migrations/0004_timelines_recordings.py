from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("speech", "0003_requests_by_voice"),
    ]

    operations = [
        migrations.AddField(
            model_name="requestlog",
            name="recording",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text=(
                    "Its audio's file, where the tenant wanted it kept; see `ttsapp.speech.kept`."
                ),
                max_length=80,
            ),
        ),
        migrations.AddField(
            model_name="requestlog",
            name="timeline",
            field=models.BinaryField(
                help_text="When its audio was handed over: `ttsapp.speech.timeline`.", null=True
            ),
        ),
    ]
