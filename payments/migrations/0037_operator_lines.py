"""The operator's lines of what was paid before the operator kept books, as `funding.0039` writes
those of fundings."""

from django.db import migrations

from common.database.operations import page_by_page

PAYMENTS = """
INSERT INTO balance_operator_line (
    step, amount, rail, source_type, source_id, tenant_id, day, created_at
)
SELECT line.step, transfer.amount, transfer.network, 'payment', transfer.id, transfer.tenant_id,
    coalesce(line.day, (line.at AT TIME ZONE 'America/New_York')::date), line.at
FROM payments_payment AS transfer CROSS JOIN LATERAL (VALUES
    ('out_settled', transfer.settlement_date,
        coalesce(transfer.completed_at, transfer.returned_at, transfer.failed_at, transfer.updated_at),
        transfer.completed_at IS NOT NULL OR transfer.returned OR transfer.settlement_date IS NOT NULL),
    ('out_final', NULL, transfer.completed_at, transfer.completed_at IS NOT NULL),
    ('out_returned', NULL, coalesce(transfer.returned_at, transfer.failed_at),
        transfer.status = 'failed' AND (transfer.returned OR transfer.settlement_date IS NOT NULL)),
    ('out_returned_late', NULL, transfer.returned_at, transfer.status = 'returned'),
    ('out_given_back', NULL, transfer.returned_at, transfer.status = 'returned')
) AS line (step, day, at, applies)
WHERE transfer.id > %(after)s AND transfer.id <= %(last)s AND line.applies
ORDER BY transfer.id
ON CONFLICT (source_id, source_type, step) DO NOTHING
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("balance", "0018_operator_lines"),
        ("payments", "0036_names_of_methods"),
    ]

    operations = [
        migrations.RunPython(
            page_by_page("payments_payment", PAYMENTS), migrations.RunPython.noop
        ),
    ]
