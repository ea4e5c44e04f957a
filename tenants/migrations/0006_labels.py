"""Names that people read; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tenants', '0005_staff_notes'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='auditevent',
            options={'verbose_name': 'audit event', 'verbose_name_plural': 'audit log'},
        ),
        migrations.AlterModelOptions(
            name='outgoingemail',
            options={'verbose_name': 'e-mail'},
        ),
        migrations.AlterModelOptions(
            name='switch',
            options={'verbose_name_plural': 'switches'},
        ),
        migrations.AlterModelOptions(
            name='user',
            options={'verbose_name': 'person', 'verbose_name_plural': 'people'},
        ),
        migrations.AlterField(
            model_name='auditevent',
            name='actor_type',
            field=models.CharField(choices=[('user', 'User'), ('api_key', 'API key'), ('staff', 'Staff'), ('approver', 'Approver'), ('network', 'Network'), ('system', 'System')], max_length=8),
        ),
    ]
