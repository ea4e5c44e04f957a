"""A payment's recipient is its tenant's own: one reference instead of two."""

import django.db.models.deletion
from django.db import migrations, models

from common.database.operations import refer_with_tenant


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0016_room_for_claims'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        *(
            migrations.RunSQL(forwards, backwards)
            for forwards, backwards in refer_with_tenant(
                table='payments_payment',
                column='recipient_id',
                name='payment_goes_to_own_recipient',
                to='payments_recipient',
                unique='recipient_of_tenant',
            )
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddConstraint(
                    model_name='recipient',
                    constraint=models.UniqueConstraint(fields=('id', 'tenant'), name='recipient_of_tenant'),
                ),
            ],
        ),
        migrations.AlterField(
            model_name='payment',
            name='recipient',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, to='payments.recipient'),
        ),
        migrations.AlterField(
            model_name='payment',
            name='tenant',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.tenant'),
        ),
    ]
