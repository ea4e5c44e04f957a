import django.db.models.deletion
from django.db import migrations, models

from common.database.operations import RemoveIndexOfFieldOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('api', '0003_labels'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        RemoveIndexOfFieldOnline(
            model_name='idempotencyrecord',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='tenants.tenant'),
        ),
    ]
