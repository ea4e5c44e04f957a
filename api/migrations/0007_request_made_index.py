"""Finds the request that made something, built while requests are noted."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('api', '0006_request_made'),
        ('tenants', '0025_find_sessions'),
    ]

    operations = [
        AddIndexOnline(
            model_name='apirequest',
            index=models.Index(condition=models.Q(('made_id', ''), _negated=True), fields=['tenant', 'made_id'], name='request_made'),
        ),
    ]
