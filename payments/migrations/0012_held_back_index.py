"""What `0009` left for later, because it reads the whole table: payments go on meanwhile."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0011_never_truncated'),
    ]

    operations = [
        AddIndexOnline(
            model_name='payment',
            index=models.Index(condition=models.Q(('held_back_at__isnull', False)), fields=['tenant', 'id'], include=('amount',), name='payment_held_back'),
        ),
        ValidateConstraint(
            model_name='payment', name='held_back_payments_are_not_due'
        ),
    ]
