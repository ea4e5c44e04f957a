"""The seal reads keys and tenants by age: indexes, built while both are written."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('tenants', '0009_keys_and_modes_stay'),
    ]

    operations = [
        AddIndexOnline(
            model_name='apikey',
            index=models.Index(fields=['created_at'], name='api_key_age'),
        ),
        AddIndexOnline(
            model_name='tenant',
            index=models.Index(fields=['created_at'], name='tenant_age'),
        ),
    ]
