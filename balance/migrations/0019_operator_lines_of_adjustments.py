"""The operator's lines of adjustments that were made before the operator kept books."""

from django.db import migrations

from common.database.operations import page_by_page

ADJUSTMENTS = """
INSERT INTO balance_operator_line (
    step, amount, rail, source_type, source_id, tenant_id, day, created_at
)
SELECT CASE type WHEN 'credit' THEN 'adjusted_up' ELSE 'adjusted_down' END, amount, '',
    'adjustment', id, tenant_id, (created_at AT TIME ZONE 'America/New_York')::date, created_at
FROM balance_adjustment
WHERE id > %(after)s AND id <= %(last)s
ORDER BY id
ON CONFLICT (source_id, source_type, step) DO NOTHING
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("balance", "0018_operator_lines")]

    operations = [
        migrations.RunPython(
            page_by_page("balance_adjustment", ADJUSTMENTS), migrations.RunPython.noop
        ),
    ]
