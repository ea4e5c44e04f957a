"""A funding's bank account is its tenant's own: one reference instead of two."""

import django.db.models.deletion
from django.db import migrations, models

from common.database.operations import refer_with_tenant


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('funding', '0021_room_for_claims'),
        ('tenants', '0011_no_second_index'),
    ]

    operations = [
        *(
            migrations.RunSQL(forwards, backwards)
            for forwards, backwards in refer_with_tenant(
                table='funding_fundingtransaction',
                column='source_id',
                name='funding_draws_from_own_source',
                to='funding_fundingsource',
                unique='source_of_tenant',
            )
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddConstraint(
                    model_name='fundingsource',
                    constraint=models.UniqueConstraint(fields=('id', 'tenant'), name='source_of_tenant'),
                ),
            ],
        ),
        migrations.AlterField(
            model_name='fundingtransaction',
            name='source',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, to='funding.fundingsource'),
        ),
        migrations.AlterField(
            model_name='fundingtransaction',
            name='tenant',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='tenants.tenant'),
        ),
    ]
