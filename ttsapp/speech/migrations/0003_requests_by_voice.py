from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('speech', '0002_exact_seeds'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='requestlog',
            index=models.Index(fields=['voice', '-id'], name='requests_by_voice'),
        ),
    ]
