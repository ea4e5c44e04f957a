import django.db.models.deletion
from django.db import migrations, models

from common.database.operations import RemoveIndexOfFieldOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('network_inbox', '0007_messages_stay'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        RemoveIndexOfFieldOnline(
            model_name='handsettlement',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
    ]
