from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "balance_journal.sql"


class Migration(migrations.Migration):
    dependencies = [("balance", "0002_balance_storage")]

    operations = [
        migrations.RunSQL(
            SQL.read_text(),
            reverse_sql="DROP VIEW balance_journal",
        ),
    ]
