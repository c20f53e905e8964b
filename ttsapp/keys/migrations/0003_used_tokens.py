from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("keys", "0002_limits")]

    operations = [
        migrations.CreateModel(
            name="UsedToken",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("used_at", models.DateTimeField(auto_now_add=True, db_index=True)),
            ],
        ),
    ]
