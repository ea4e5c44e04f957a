from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "balance_storage.sql"


class Migration(migrations.Migration):
    dependencies = [("balance", "0001_initial")]

    operations = [
        migrations.RunSQL(
            SQL.read_text(),
            reverse_sql="""ALTER TABLE balance RESET (
            fillfactor,
            autovacuum_vacuum_threshold,
            autovacuum_vacuum_scale_factor,
            autovacuum_vacuum_cost_delay
        )""",
        ),
    ]
