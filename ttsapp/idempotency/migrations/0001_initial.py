
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('tenants', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='KeyedRequest',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('fingerprint', models.CharField(help_text='Of method, path and body.', max_length=64)),
                ('request_id', models.UUIDField()),
                ('is_running', models.BooleanField()),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField(db_index=True)),
                ('headers', models.JSONField(default=dict)),
                ('size', models.PositiveIntegerField(default=0)),
                ('body', models.BinaryField(help_text='None: it runs, or was too long to be kept.', null=True)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'ordering': ('-created_at',),
                'indexes': [models.Index(fields=['tenant', 'created_at'], name='answers_of_tenant')],
            },
        ),
    ]
