from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('billing', '0006_rollups'),
    ]

    operations = [
        migrations.RenameField('billingdetails', 'first_month', 'next_month'),
        migrations.AlterField(
            model_name='billingdetails',
            name='next_month',
            field=models.DateField(help_text='The next month to be invoiced: its first day, UTC.'),
        ),
    ]
