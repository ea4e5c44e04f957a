import django.db.models.deletion
from django.db import migrations, models

from common.database.operations import RemoveIndexOfFieldOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0014_parked_index'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        RemoveIndexOfFieldOnline(
            model_name='payment',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
    ]
