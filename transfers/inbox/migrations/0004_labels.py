"""Names that people read; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('network_inbox', '0003_due_index'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='inboundevent',
            options={'verbose_name': 'network message'},
        ),
        migrations.AlterField(
            model_name='inboundevent',
            name='outcome',
            field=models.CharField(choices=[('new', 'New'), ('applied', 'Applied'), ('review', 'To settle'), ('resolved', 'Resolved')], default='new', max_length=8),
        ),
    ]
