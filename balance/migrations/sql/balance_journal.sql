-- The double entry that each balance transaction is, spelled out leg by leg. Stores nothing.
CREATE VIEW balance_journal AS
SELECT
    posted.id || leg.suffix AS id,
    posted.id AS transaction_id,
    posted.tenant_id,
    posted.sequence,
    posted.type,
    leg.account,
    leg.debit * posted.amount AS debit,
    leg.credit * posted.amount AS credit,
    posted.currency,
    posted.source_type,
    posted.source_id,
    posted.description,
    posted.created_at
FROM balance_transaction AS posted
JOIN (
    VALUES
        ('credit', ':debit', 'bank_clearing', 1, 0),
        ('credit', ':credit', 'tenant_available', 0, 1),
        ('debit', ':debit', 'tenant_available', 1, 0),
        ('debit', ':credit', 'bank_clearing', 0, 1),
        ('lock', ':debit', 'tenant_available', 1, 0),
        ('lock', ':credit', 'tenant_locked', 0, 1),
        ('unlock', ':debit', 'tenant_locked', 1, 0),
        ('unlock', ':credit', 'tenant_available', 0, 1),
        ('settlement', ':debit', 'tenant_locked', 1, 0),
        ('settlement', ':credit', 'bank_clearing', 0, 1)
) AS leg (type, suffix, account, debit, credit) ON leg.type = posted.type;
