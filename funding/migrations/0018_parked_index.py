"""The index of what is to be sent, and the end of the one of what is due. The last release finds
its due rows without an index until its processes are gone; nothing is lost by that."""

from django.db import migrations, models

from common.database.operations import AddIndexOnline, RemoveIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('funding', '0017_parked'),
    ]

    operations = [
        AddIndexOnline(
            model_name='fundingtransaction',
            index=models.Index(condition=models.Q(('held_at', None), ('next_attempt_at__isnull', False)), fields=['parked_for', 'network', 'next_attempt_at', 'id'], name='funding_to_send'),
        ),
        RemoveIndexOnline(
            model_name='fundingtransaction',
            name='funding_due',
        ),
    ]
