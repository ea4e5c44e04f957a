from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "posting.sql"


class Migration(migrations.Migration):
    dependencies = [("balance", "0011_full_proofs"), ("tenants", "0007_database_clock")]

    operations = [
        migrations.RunSQL(
            SQL.read_text(),
            reverse_sql="DROP FUNCTION balance_post, balance_change_pending, balance_open",
        ),
    ]
