"""Names that people read; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('balance', '0005_proposals'),
    ]

    operations = [
        migrations.AlterField(
            model_name='adjustment',
            name='actor_type',
            field=models.CharField(choices=[('user', 'User'), ('api_key', 'API key'), ('staff', 'Staff'), ('approver', 'Approver'), ('network', 'Network'), ('system', 'System')], max_length=8),
        ),
    ]
