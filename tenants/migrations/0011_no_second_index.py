import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from common.database.operations import RemoveIndexOfFieldOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('tenants', '0010_ages'),
    ]

    operations = [
        RemoveIndexOfFieldOnline(
            model_name='auditevent',
            name='tenant',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='tenants.tenant'),
        ),
        RemoveIndexOfFieldOnline(
            model_name='membership',
            name='user',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL),
        ),
    ]
