from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "find_people.sql"
UNDO = "DROP FUNCTION tenants_name_people; DROP FUNCTION tenants_find_person"


class Migration(migrations.Migration):
    dependencies = [("tenants", "0018_access_ends")]

    operations = [migrations.RunSQL(SQL.read_text(), reverse_sql=UNDO)]
