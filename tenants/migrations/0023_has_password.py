from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "has_password.sql"


class Migration(migrations.Migration):
    dependencies = [("tenants", "0022_link_states")]

    operations = [
        migrations.RunSQL(SQL.read_text(), reverse_sql="DROP FUNCTION tenants_has_password"),
    ]
