from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "find_link.sql"


class Migration(migrations.Migration):
    dependencies = [("funding", "0034_deposits_sealed")]

    operations = [
        migrations.RunSQL(SQL.read_text(), reverse_sql="DROP FUNCTION funding_find_link"),
    ]
