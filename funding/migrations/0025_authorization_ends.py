"""The index by which ends of authorizations are sealed, and looked for in the future."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('funding', '0024_debit_authorizations'),
    ]

    operations = [
        AddIndexOnline(
            model_name='debitauthorization',
            index=models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at'], name='authorization_ended'),
        ),
    ]
