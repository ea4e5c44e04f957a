from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "find_key.sql"


class Migration(migrations.Migration):
    dependencies = [("tenants", "0016_access_proposals")]

    operations = [
        migrations.RunSQL(SQL.read_text(), reverse_sql="DROP FUNCTION tenants_find_key"),
    ]
