"""The unique index of what was posted begins with the source instead of the tenant.

Sources are numbered in time, so their entries are next to each other. Those of tenants are anywhere
in the index, and the first change of a page after a checkpoint writes the whole page. It is built
beside running processes, partition by partition. Then the two change places at once, without
reading the table: at no moment can anything be posted twice.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations, models, transaction

NAME = "balance_transaction_once"
AFTER = ("source_id", "tenant", "source_type", "type")
BEFORE = ("tenant", "source_id", "source_type", "type")

_PARTITIONS = """
SELECT inhrelid::regclass::text FROM pg_inherits
WHERE inhparent = 'balance_transaction'::regclass ORDER BY 1
"""


_COLUMNS = """
SELECT pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid = 'balance_transaction'::regclass AND conname = %s
"""


def by_source(apps: Any, schema_editor: Any) -> None:
    _exchange(schema_editor, AFTER)


def by_tenant(apps: Any, schema_editor: Any) -> None:
    _exchange(schema_editor, BEFORE)


def _exchange(schema_editor: Any, fields: tuple[str, ...]) -> None:
    connection = schema_editor.connection
    columns = ", ".join("tenant_id" if name == "tenant" else name for name in fields)
    online = "" if connection.in_atomic_block else "CONCURRENTLY"
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS, [NAME])
        if cursor.fetchone() == (f"UNIQUE ({columns})",):
            return  # it was cut off after the exchange, before that was written down
        cursor.execute(_PARTITIONS)
        built = {table: f"{table}_once_by_{fields[0]}" for (table,) in cursor.fetchall()}
        for table, index in built.items():
            cursor.execute(f"DROP INDEX {online} IF EXISTS {index}")  # of a build that was cut off
            cursor.execute(f"CREATE UNIQUE INDEX {online} {index} ON {table} ({columns})")
        with transaction.atomic(using=connection.alias):
            cursor.execute(f"ALTER TABLE balance_transaction DROP CONSTRAINT {NAME}")
            for table, index in built.items():
                cursor.execute(
                    f"ALTER TABLE {table} ADD CONSTRAINT {index} UNIQUE USING INDEX {index}"
                )
            cursor.execute(  # takes each partition's as its own
                f"ALTER TABLE balance_transaction ADD CONSTRAINT {NAME} UNIQUE ({columns})"
            )


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("balance", "0015_closed_months"),
    ]

    operations = [
        migrations.RunPython(by_source, by_tenant),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(model_name="balancetransaction", name=NAME),
                migrations.AddConstraint(
                    model_name="balancetransaction",
                    constraint=models.UniqueConstraint(fields=AFTER, name=NAME),
                ),
            ]
        ),
    ]
