from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql"
# What 0012 made; the next `database_roles` grants it again.
BEFORE = f"""
DROP FUNCTION balance_post_many, balance_post, balance_change_pending, balance_open,
    balance_may_become, balance_available_delta, balance_locked_delta;
{(SQL / "posting.sql").read_text()}
"""


class Migration(migrations.Migration):
    dependencies = [("balance", "0013_never_truncated")]

    operations = [
        migrations.RunSQL((SQL / "posting_in_sets.sql").read_text(), reverse_sql=BEFORE),
    ]
