"""Names that people read; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0004_desk_figures'),
    ]

    operations = [
        migrations.AlterField(
            model_name='webhookdelivery',
            name='status',
            field=models.CharField(choices=[('pending', 'On the way'), ('delivered', 'Delivered'), ('failed', 'Failed'), ('skipped', 'Skipped'), ('canceled', 'Canceled')], editable=False, max_length=9),
        ),
    ]
