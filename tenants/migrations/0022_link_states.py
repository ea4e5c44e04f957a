from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "link_states.sql"
UNDO = "DROP FUNCTION tenants_link_state_of_mail; DROP FUNCTION tenants_link_states"


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0021_loosening_keys"),
        ("account", "0009_emailaddress_unique_primary_email"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [migrations.RunSQL(SQL.read_text(), reverse_sql=UNDO)]
