"""Copies made between two releases lost two unique indexes to the first form of 0019. Elsewhere
this does nothing."""

from typing import Any

from django.db import migrations

# Name: table and condition.
AGAIN = {
    "one_auto_funding_in_flight": (
        "funding_fundingtransaction",
        "status IN ('reserved', 'awaiting_confirmation', 'pending', 'in_transit')"
        " AND trigger = 'auto_funding'",
    ),
    "one_default_source": ("funding_fundingsource", "is_default"),
}
# A build that was cut off leaves an index that refuses nothing for sure.
_CUT_OFF = """
SELECT FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid
"""


def again(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        for name, (table, condition) in AGAIN.items():
            cursor.execute(_CUT_OFF, [name])
            if cursor.fetchone() is not None:
                cursor.execute(f"DROP INDEX CONCURRENTLY {name}")
            cursor.execute(
                f"CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS {name}"
                f" ON {table} (tenant_id) WHERE {condition}"
            )


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("funding", "0019_no_second_index"),
    ]

    operations = [
        migrations.RunPython(again, migrations.RunPython.noop),
    ]
