"""Names that people read; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('api', '0002_request_log'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='idempotencyrecord',
            options={'verbose_name': 'idempotency key'},
        ),
    ]
