"""Since when a payment is held back. Its constraint binds new rows; `0012` checks the old ones."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0008_approval_changes'),
        ('tenants', '0007_database_clock'),
    ]

    operations = [
        migrations.AddField(
            model_name='payment',
            name='held_back_at',
            field=models.DateTimeField(blank=True, help_text='since when it is not sent, because available is negative', null=True),
        ),
        AddConstraintNotValid(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(('held_back_at', None), models.Q(('next_attempt_at', None), ('status', 'created')), _connector='OR'), name='held_back_payments_are_not_due'),
        ),
    ]
