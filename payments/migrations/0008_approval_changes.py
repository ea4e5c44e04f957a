"""A change of the approval limit that protects less waits."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0007_labels'),
        ('tenants', '0006_labels'),
    ]

    operations = [
        migrations.AddField(
            model_name='paymentsettings',
            name='next_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='paymentsettings',
            name='next_by',
            field=models.CharField(blank=True, db_default='', max_length=254),
        ),
        migrations.AddField(
            model_name='paymentsettings',
            name='next_threshold',
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name='paymentsettings',
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ('next_threshold', None),
                    models.Q(('next_at__isnull', False), ('next_threshold__gte', 0)),
                    _connector='OR',
                ),
                name='next_approval_threshold_dated',
            ),
        ),
    ]
