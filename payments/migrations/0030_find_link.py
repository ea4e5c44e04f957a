from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "find_link.sql"


class Migration(migrations.Migration):
    dependencies = [("payments", "0029_declined_recipients")]

    operations = [
        migrations.RunSQL(SQL.read_text(), reverse_sql="DROP FUNCTION payments_find_link"),
    ]
