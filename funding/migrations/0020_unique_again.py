"""Copies made between two releases lost two unique indexes to the first form of 0019. Elsewhere
this does nothing."""

from django.db import migrations

AGAIN = """
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table} (tenant_id) WHERE {condition}
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('funding', '0019_no_second_index'),
    ]

    operations = [
        migrations.RunSQL(
            AGAIN.format(
                name='one_auto_funding_in_flight',
                table='funding_fundingtransaction',
                condition="status IN ('reserved', 'awaiting_confirmation', 'pending', 'in_transit')"
                " AND trigger = 'auto_funding'",
            ),
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            AGAIN.format(
                name='one_default_source', table='funding_fundingsource', condition='is_default'
            ),
            migrations.RunSQL.noop,
        ),
    ]
