"""The operator's lines of what was funded before the operator kept books.

Each line is dated by when its step was made; what nobody wrote down (the moment at which the
network told of a settlement) by the next step that is. Processes of the last release write no such
lines, so nobody applies messages while this runs.
"""

from django.db import migrations

from common.database.operations import page_by_page

FUNDINGS = """
INSERT INTO balance_operator_line (
    step, amount, rail, source_type, source_id, tenant_id, day, created_at
)
SELECT line.step, transfer.amount, transfer.network, 'funding_transaction', transfer.id, transfer.tenant_id,
    coalesce(line.day, (line.at AT TIME ZONE 'America/New_York')::date), line.at
FROM funding_fundingtransaction AS transfer CROSS JOIN LATERAL (VALUES
    ('in_settled', transfer.settlement_date,
        coalesce(transfer.completed_at, transfer.returned_at, transfer.failed_at, transfer.updated_at),
        transfer.completed_at IS NOT NULL OR transfer.returned OR transfer.settlement_date IS NOT NULL),
    ('in_final', NULL, transfer.completed_at, transfer.completed_at IS NOT NULL),
    ('in_returned', NULL, coalesce(transfer.returned_at, transfer.failed_at),
        transfer.status = 'failed' AND transfer.completed_at IS NULL
        AND (transfer.returned OR transfer.settlement_date IS NOT NULL)),
    ('in_returned_late', NULL, coalesce(transfer.returned_at, transfer.failed_at),
        transfer.status = 'failed' AND transfer.completed_at IS NOT NULL),
    ('in_charged', NULL, coalesce(transfer.returned_at, transfer.failed_at),
        transfer.status = 'failed' AND transfer.completed_at IS NOT NULL)
) AS line (step, day, at, applies)
WHERE transfer.id > %(after)s AND transfer.id <= %(last)s AND line.applies
ORDER BY transfer.id
ON CONFLICT (source_id, source_type, step) DO NOTHING
"""
# One that failed after its network had said that it settled, or came back, was there before.
DEPOSITS = """
INSERT INTO balance_operator_line (
    step, amount, rail, source_type, source_id, tenant_id, day, created_at
)
SELECT line.step, transfer.amount, transfer.network, 'micro_deposit', transfer.id, transfer.tenant_id,
    coalesce(line.day, (transfer.updated_at AT TIME ZONE 'America/New_York')::date), transfer.updated_at
FROM funding_depositentry AS transfer
CROSS JOIN LATERAL (
    SELECT transfer.settlement_date IS NOT NULL OR EXISTS (
        SELECT FROM network_inbox_inboundevent AS message
        WHERE message.instruction_id = transfer.id COLLATE "default"
            AND message.kind IN ('settled', 'final', 'returned') AND message.outcome = 'applied'
    ) AS has_settled
) AS said
CROSS JOIN LATERAL (VALUES
    (CASE transfer.method WHEN 'ach_debit' THEN 'verification_collected' ELSE 'verification_paid' END,
        transfer.settlement_date, said.has_settled),
    (CASE transfer.method WHEN 'ach_debit' THEN 'verification_paid' ELSE 'verification_collected' END,
        NULL, said.has_settled AND transfer.status = 'failed')
) AS line (step, day, applies)
WHERE transfer.id > %(after)s AND transfer.id <= %(last)s AND line.applies
ORDER BY transfer.id
ON CONFLICT (source_id, source_type, step) DO NOTHING
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("balance", "0018_operator_lines"),
        ("funding", "0038_names_of_methods"),
        ("network_inbox", "0012_corrections_answered"),
    ]

    operations = [
        migrations.RunPython(
            page_by_page("funding_fundingtransaction", FUNDINGS), migrations.RunPython.noop
        ),
        migrations.RunPython(
            page_by_page("funding_depositentry", DEPOSITS), migrations.RunPython.noop
        ),
    ]
