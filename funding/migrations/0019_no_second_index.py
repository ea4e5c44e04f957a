import django.db.models.deletion
from django.db import migrations, models

from common.database.operations import RemoveIndexOfFieldOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('funding', '0018_parked_index'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        RemoveIndexOfFieldOnline(
            model_name='accountbackoff',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
        RemoveIndexOfFieldOnline(
            model_name='autofundingdecision',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='tenants.tenant'),
        ),
        RemoveIndexOfFieldOnline(
            model_name='fundingevent',
            name='funding',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='history', to='funding.fundingtransaction'),
        ),
        RemoveIndexOfFieldOnline(
            model_name='fundingsource',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='tenants.tenant'),
        ),
        RemoveIndexOfFieldOnline(
            model_name='fundingtransaction',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='tenants.tenant'),
        ),
    ]
