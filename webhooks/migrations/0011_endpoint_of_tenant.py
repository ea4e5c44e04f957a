"""A delivery's endpoint is its tenant's own: one reference instead of two."""

import django.db.models.deletion
from django.db import migrations, models

from common.database.operations import refer_with_tenant


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('webhooks', '0010_mark_parked'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        *(
            migrations.RunSQL(forwards, backwards)
            for forwards, backwards in refer_with_tenant(
                table='webhooks_webhookdelivery',
                column='endpoint_id',
                name='delivery_goes_to_own_endpoint',
                to='webhooks_webhookendpoint',
                unique='endpoint_of_tenant',
            )
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddConstraint(
                    model_name='webhookendpoint',
                    constraint=models.UniqueConstraint(fields=('id', 'tenant'), name='endpoint_of_tenant'),
                ),
            ],
        ),
        migrations.AlterField(
            model_name='webhookdelivery',
            name='endpoint',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='webhooks.webhookendpoint'),
        ),
        migrations.AlterField(
            model_name='webhookdelivery',
            name='tenant',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='tenants.tenant'),
        ),
    ]
