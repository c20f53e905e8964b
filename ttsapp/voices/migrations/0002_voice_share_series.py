from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('voices', '0001_registry'),
    ]

    operations = [
        migrations.AddField(
            model_name='voice',
            name='share_series',
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
    ]
