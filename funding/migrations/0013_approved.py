"""An index for the month's limit: what people approved, by the time of their approval."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('funding', '0012_the_banks_last_word'),
        ('tenants', '0007_database_clock'),
    ]

    operations = [
        AddIndexOnline(
            model_name='fundingtransaction',
            index=models.Index(condition=models.Q(('requires_confirmation', True), ('reserved_at__isnull', False)), fields=['tenant', 'reserved_at'], include=('amount', 'status', 'trigger'), name='funding_approved'),
        ),
    ]
