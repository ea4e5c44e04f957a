"""What must hold between funding, the ledger and the outbox: funding's part of `check_ledger`.

Each rule is one SQL statement that returns what breaks it. The full audit looks at everything, the
incremental one at funding that moved during the last day (`check_ledger` runs every 15 minutes).
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connection
from psycopg.sql import SQL

from balance.findings import Finding, Scope
from funding.services.lifecycle import SOURCE_TYPE
from funding.states import FUNDING_STATES, IN_FLIGHT

_LOOKED_AT = SQL("""
    (%(tenant_id)s::text IS NULL OR funding.tenant_id = %(tenant_id)s)
    AND (%(full)s OR funding.id IN (
        SELECT funding_id FROM funding_fundingevent WHERE created_at > now() - interval '1 day'
    ))
""")

PENDING = SQL("""
SELECT coalesce(balance.tenant_id, funding.tenant_id), 'balance',
    'pending is ' || coalesce(balance.pending, 0)
    || ', funding in flight is ' || coalesce(funding.total, 0)
FROM balance
FULL JOIN (
    SELECT tenant_id, sum(amount) AS total
    FROM funding_fundingtransaction WHERE status = ANY(%(in_flight)s) GROUP BY tenant_id
) AS funding USING (tenant_id)
WHERE coalesce(balance.pending, 0) <> coalesce(funding.total, 0)
    AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
""")

# Completed: one credit. Returned after completion: a credit and a debit. Otherwise: nothing.
POSTINGS = SQL("""
SELECT funding.tenant_id, funding.id,
    funding.status || ' with postings ' || coalesce(posted.types::text, 'none')
FROM funding_fundingtransaction AS funding
LEFT JOIN LATERAL (
    SELECT array_agg(type::text ORDER BY sequence) AS types,
        bool_and(amount = funding.amount) AS fits
    FROM balance_transaction
    WHERE tenant_id = funding.tenant_id
        AND source_type = %(source_type)s AND source_id = funding.id
) AS posted ON true
WHERE {looked_at} AND (
    coalesce(posted.types, ARRAY[]::text[]) <> CASE
        WHEN funding.status = 'completed' THEN ARRAY['credit']
        WHEN funding.status = 'failed' AND funding.completed_at IS NOT NULL
            THEN ARRAY['credit', 'debit']
        ELSE ARRAY[]::text[] END
    OR posted.fits IS FALSE)
""").format(looked_at=_LOOKED_AT)

ORPHANS = SQL("""
SELECT tenant_id, id, 'posting of unknown funding ' || source_id
FROM balance_transaction AS posting
WHERE %(full)s AND source_type = %(source_type)s
    AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
    AND NOT EXISTS (
        SELECT FROM funding_fundingtransaction AS funding
        WHERE funding.id = posting.source_id AND funding.tenant_id = posting.tenant_id)
""")

# The history is gapless, each step is a move of the machine, and it ends in the status of the row.
HISTORY = SQL("""
SELECT funding.tenant_id, funding.id, 'history ' || coalesce(steps.path, 'is empty')
    || ' does not lead to ' || funding.status
FROM funding_fundingtransaction AS funding
LEFT JOIN LATERAL (
    SELECT string_agg(to_status, ' > ' ORDER BY sequence) AS path,
        (array_agg(to_status ORDER BY sequence DESC))[1] AS ends_in,
        count(*) AS length,
        bool_and(from_status = before AND sequence = number
            AND (before = '' OR before || '>' || to_status = ANY(%(moves)s))) AS is_legal
    FROM (
        SELECT *, lag(to_status, 1, '') OVER (ORDER BY sequence) AS before,
            row_number() OVER (ORDER BY sequence) AS number
        FROM funding_fundingevent WHERE funding_id = funding.id
    ) AS step
) AS steps ON true
WHERE {looked_at} AND (
    steps.ends_in IS DISTINCT FROM funding.status
    OR steps.length <> funding.history_length
    OR steps.is_legal IS DISTINCT FROM true)
""").format(looked_at=_LOOKED_AT)

# One event per transition that has one, never two. Events are deleted after 30 days.
EVENTS = SQL("""
WITH funding AS (
    SELECT * FROM funding_fundingtransaction AS funding WHERE {looked_at}
), expected AS (
    SELECT step.funding_id AS id, CASE
        WHEN step.sequence = 1 THEN 'payment.created'
        WHEN step.to_status = 'pending' THEN 'payment.processing'
        WHEN step.to_status = 'completed' THEN 'payment.completed'
        WHEN funding.returned THEN 'payment.returned'
        ELSE 'payment.failed' END AS type
    FROM funding_fundingevent AS step JOIN funding ON funding.id = step.funding_id
    WHERE step.created_at > now() - interval '29 days'
        AND (step.sequence = 1 OR step.to_status IN ('pending', 'completed', 'failed'))
), actual AS (
    SELECT event.payment_id AS id, event.type
    FROM webhooks_webhookevent AS event JOIN funding ON funding.id = event.payment_id
    WHERE event.created_at > now() - interval '29 days'
), unequal AS (
    (SELECT id, type, count(*) FROM expected GROUP BY 1, 2
     EXCEPT SELECT id, type, count(*) FROM actual GROUP BY 1, 2)
    UNION ALL
    (SELECT id, type, count(*) FROM actual GROUP BY 1, 2
     EXCEPT SELECT id, type, count(*) FROM expected GROUP BY 1, 2)
)
SELECT DISTINCT funding.tenant_id, funding.id, 'transitions and events differ in ' || unequal.type
FROM unequal JOIN funding USING (id)
""").format(looked_at=_LOOKED_AT)

RULES = {
    "funding_pending": PENDING,
    "funding_postings": POSTINGS,
    "funding_posting_orphan": ORPHANS,
    "funding_history": HISTORY,
    "funding_events": EVENTS,
}


def check(scope: Scope) -> Iterator[Finding]:
    """Every rule over what `scope` asks for. Only reads."""
    values = {
        "tenant_id": scope.tenant_id,
        "full": scope.full,
        "source_type": SOURCE_TYPE,
        "in_flight": [str(status) for status in IN_FLIGHT],
        "moves": [
            f"{source}>{target}"
            for source, targets in FUNDING_STATES.moves.items()
            for target in targets
        ],
    }
    for code, rule in RULES.items():
        with connection.cursor() as cursor:
            cursor.execute(rule.as_string(), values)
            for tenant_id, subject, message in cursor.fetchall():
                yield Finding(code=code, tenant_id=tenant_id, subject=subject, message=message)
