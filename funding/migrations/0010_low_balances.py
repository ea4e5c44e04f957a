from __future__ import annotations

from django.db import migrations

# Who is known to be low was written down here alone.
NOTE = """
UPDATE balance SET low_noted_until = config.low_since
FROM funding_autofundingconfig AS config
WHERE config.tenant_id = balance.tenant_id AND config.low_since IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [
        ("balance", "0008_low_balances"),
        ("funding", "0009_link_consents"),
    ]

    operations = [migrations.RunSQL(NOTE, reverse_sql=migrations.RunSQL.noop)]
