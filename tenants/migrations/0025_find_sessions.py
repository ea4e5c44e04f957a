from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("tenants", "0024_ended_email_stays"), ("sessions", "0001_initial")]

    operations = [
        migrations.RunSQL(
            (SQL / f"{name}.sql").read_text(), reverse_sql=f"DROP FUNCTION tenants_{name}"
        )
        for name in ("find_session", "find_invitation")
    ]
