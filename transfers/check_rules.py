"""The rules of `transfers.checks`, one statement each: it returns what breaks the rule.

`%(ids)s` are the movements to judge, some hundred at a time.
"""

from __future__ import annotations

from psycopg.sql import SQL

# Pending (or locked) of a balance is the sum of the movements that are open. The statuses are part
# of the text: a generic plan cannot know that a parameter fits the partial index.
TOTAL = SQL("""
SELECT coalesce(balance.tenant_id, movement.tenant_id), 'balance',
    {total_name} || ' is ' || coalesce(balance.{total}, 0)
    || ', the open rows sum to ' || coalesce(movement.total, 0)
FROM (
    SELECT tenant_id, {total} FROM balance
    WHERE %(tenant_ids)s::text[] IS NULL OR tenant_id = ANY(%(tenant_ids)s)
) AS balance
FULL JOIN (
    SELECT tenant_id, sum(amount) AS total FROM {table}
    WHERE status IN ({open})
        AND (%(tenant_ids)s::text[] IS NULL OR tenant_id = ANY(%(tenant_ids)s))
    GROUP BY tenant_id
) AS movement USING (tenant_id)
WHERE coalesce(balance.{total}, 0) <> coalesce(movement.total, 0)
""")

# What is to be sent is due, now or soon: nothing else ever takes it up.
NEVER_DUE = SQL("""
SELECT movement.tenant_id, movement.id, movement.status || ', but due '
    || coalesce(greatest(movement.next_attempt_at, movement.leased_until)::text, 'never')
FROM {table} AS movement
WHERE movement.status IN ({open}) AND ({to_be_sent})
    AND (movement.next_attempt_at IS NULL OR movement.next_attempt_at > ballast_now() + {never}
        OR movement.leased_until > ballast_now() + {never})
    AND (%(tenant_ids)s::text[] IS NULL OR movement.tenant_id = ANY(%(tenant_ids)s))
""")

# What was told about a movement, or belongs to its history, is about one that is there.
VANISHED = SQL("""
SELECT event.tenant_id, event.payment_id, 'is gone, but its event ' || event.id || ' is there'
FROM {outbox} AS event
LEFT JOIN {table} AS movement ON movement.id = event.payment_id
WHERE starts_with(event.payment_id, {id_prefix}) AND movement.id IS NULL
    AND (%(full)s OR event.created_at > %(since)s)
    AND (%(tenant_ids)s::text[] IS NULL OR event.tenant_id = ANY(%(tenant_ids)s))
""")

POSTINGS = SQL("""
SELECT movement.tenant_id, movement.id,
    movement.status || ' with postings ' || coalesce(posted.types::text, 'none')
FROM {table} AS movement
LEFT JOIN LATERAL (
    SELECT array_agg(type::text ORDER BY sequence) AS types,
        bool_and(amount = movement.amount) AS fits
    FROM balance_transaction
    WHERE tenant_id = movement.tenant_id
        AND source_type = %(source_type)s AND source_id = movement.id
) AS posted ON true
WHERE movement.id = ANY(%(ids)s) AND (
    coalesce(posted.types, ARRAY[]::text[]) <> ({postings})::text[] OR posted.fits IS FALSE)
""")

# The history is gapless, each step is a move of the machine, and it ends in the status of the row.
HISTORY = SQL("""
SELECT movement.tenant_id, movement.id, 'history ' || coalesce(steps.path, 'is empty')
    || ' does not lead to ' || movement.status
FROM {table} AS movement
LEFT JOIN LATERAL (
    SELECT string_agg(to_status, ' > ' ORDER BY sequence) AS path,
        (array_agg(to_status ORDER BY sequence DESC))[1] AS ends_in,
        count(*) AS length,
        bool_and(from_status = before AND sequence = number
            AND before || '>' || to_status = ANY(%(moves)s)) AS is_legal
    FROM (
        SELECT *, lag(to_status, 1, '') OVER (ORDER BY sequence) AS before,
            row_number() OVER (ORDER BY sequence) AS number
        FROM {history} WHERE {foreign_key} = movement.id
    ) AS step
) AS steps ON true
WHERE movement.id = ANY(%(ids)s) AND (
    steps.ends_in IS DISTINCT FROM movement.status
    OR steps.length <> movement.history_length
    OR steps.is_legal IS DISTINCT FROM true)
""")

# The row's own dates are those of its history.
DATES = SQL("""
SELECT movement.tenant_id, movement.id, step.to_status || ' is dated '
    || coalesce(({date})::text, 'never') || ', in the history ' || step.created_at
FROM {history} AS step JOIN {table} AS movement ON movement.id = step.{foreign_key}
WHERE movement.id = ANY(%(ids)s) AND ({date}) IS DISTINCT FROM step.created_at
""")

# The bank account is the one that each step of the history names. Older steps name none.
ACCOUNT = SQL("""
SELECT movement.tenant_id, movement.id, 'goes by ' || movement.{account_key}
    || ', which ' || CASE WHEN account.id IS NULL THEN 'is gone'
        WHEN account.tenant_id <> movement.tenant_id THEN 'belongs to ' || account.tenant_id
        ELSE 'its history does not name' END
FROM {table} AS movement
LEFT JOIN {accounts} AS account ON account.id = movement.{account_key}
WHERE movement.id = ANY(%(ids)s) AND (
    account.id IS NULL OR account.tenant_id <> movement.tenant_id
    OR EXISTS (
        SELECT FROM {history} AS step
        WHERE step.{foreign_key} = movement.id AND step.account_id <> ''
            AND step.account_id <> movement.{account_key}))
""")

# Money arrived, or went, or came back, because the network said so, with this amount; and where it
# said so, it did. A message that a person settled counts for what it says, and somebody did.
MESSAGES = SQL("""
SELECT movement.tenant_id, movement.id, movement.status || CASE WHEN said.fits IS FALSE
    THEN ', but a message applied to it has another amount or network'
    WHEN said.put_away THEN ', and a message that nobody resolved is called so'
    ELSE ', but the network has said ' || coalesce(said.kinds, 'nothing') END
FROM {table} AS movement
LEFT JOIN LATERAL (
    SELECT string_agg(kind, ', ' ORDER BY id) AS kinds,
        bool_or(kind = 'settled') AS settled,
        bool_or(kind = 'settled' AND outcome = 'applied') AS settled_here,
        bool_or(kind = 'returned') AS returned,
        bool_or(kind = 'returned' AND outcome = 'applied') AS returned_here,
        bool_and(amount = movement.amount AND currency = movement.currency
            AND network = movement.network) FILTER (WHERE outcome = 'applied') AS fits,
        bool_or(outcome = 'resolved' AND NOT EXISTS (
            SELECT FROM tenants_auditevent AS line
            WHERE line.subject_id = movement.id AND line.action = 'network_event.resolved'
                AND line.details ->> 'eventId' = message.event_id)) AS put_away
    FROM network_inbox_inboundevent AS message
    WHERE instruction_id = movement.id AND outcome IN ('applied', 'resolved')
) AS said ON true
WHERE movement.id = ANY(%(ids)s) AND (
    (movement.completed_at IS NOT NULL AND said.settled IS NOT TRUE)
    OR (movement.completed_at IS NULL AND said.settled_here)
    OR (movement.returned AND said.returned IS NOT TRUE)
    OR (NOT movement.returned AND said.returned_here)
    OR said.put_away
    OR said.fits IS FALSE)
""")

# One event per transition that has one, numbered as they came, and never two. Events are deleted
# after 30 days.
_TOLD = """
WITH movement AS (
    SELECT * FROM {table} WHERE id = ANY(%(ids)s)
), expected AS (
    SELECT id, type, to_status, created_at, (row_number() OVER (
        PARTITION BY id ORDER BY sequence))::int AS sequence
    FROM (
        SELECT movement.id, step.sequence, step.to_status, step.created_at, {events} AS type
        FROM {history} AS step JOIN movement ON movement.id = step.{foreign_key}
    ) AS step WHERE type IS NOT NULL
), actual AS (
    SELECT payment_id AS id, sequence, event.id AS event_id, tenant_id, type, body, created_at
    FROM {outbox} AS event WHERE payment_id = ANY(%(ids)s)
)
"""
EVENTS = SQL(
    _TOLD
    + """
SELECT DISTINCT movement.tenant_id, movement.id,
    'transitions and events differ in ' || coalesce(expected.type, actual.type)
FROM expected FULL JOIN actual USING (id, sequence) JOIN movement USING (id)
WHERE coalesce(actual.created_at, expected.created_at) > ballast_now() - interval '29 days'
    AND (actual.type IS DISTINCT FROM expected.type
        OR sequence > movement.event_sequence)
"""
)

# What receivers were told is what happened. Text that is no compact JSON is never parsed: a cast
# that fails would end the audit.
EVENT_BODY = SQL(
    _TOLD  # noqa: S608  # our own text
    + """
, told AS (
    SELECT *, CASE WHEN encode(body, 'hex') ~ '^([2-7][0-9a-f])*$' THEN
        CASE WHEN convert_from(body, 'UTF8') IS JSON OBJECT
        THEN convert_from(body, 'UTF8')::jsonb END END AS says
    FROM actual
)
SELECT movement.tenant_id, movement.id, 'event ' || told.event_id || ' does not say what happened'
FROM expected JOIN told USING (id, sequence, type) JOIN movement USING (id)
WHERE told.created_at > ballast_now() - interval '29 days' AND (
    told.tenant_id <> movement.tenant_id OR told.created_at <> expected.created_at
    OR told.says IS NULL
    OR NOT told.says @> jsonb_build_object(
        'id', told.event_id,
        'type', told.type,
        'timestamp', to_char(told.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'data', jsonb_build_object(
            'paymentId', movement.id,
            'amount', movement.amount,
            'status', expected.to_status,
            'currency', movement.currency,
            'direction', {direction},
            'sequence', sequence,
            'failureCode', CASE WHEN expected.to_status IN ('failed', 'returned', 'canceled')
                THEN nullif(movement.failure_code, '') END,
            'returnCode', CASE WHEN expected.to_status IN ('failed', 'returned', 'canceled')
                THEN nullif(movement.return_code, '') END)))
"""
)

# What the usual check looks at: what moved, and what would harm if it were sent as it is.
RECENT = SQL("""
SELECT movement.id FROM {table} AS movement
WHERE (movement.status IN ({unsent}) OR movement.id IN (
        SELECT {foreign_key} FROM {history} WHERE created_at > %(since)s
    )) AND (%(tenant_ids)s::text[] IS NULL OR movement.tenant_id = ANY(%(tenant_ids)s))
ORDER BY movement.id
""")

# A tenant's rows as they were made; a page starts after the last row of the page before.
PAGE = SQL("""
SELECT id FROM {table}
WHERE tenant_id = ANY(%(tenant_ids)s) AND (%(after)s = '' OR (created_at, id) > (
    (SELECT created_at FROM {table} WHERE id = %(after)s), %(after)s))
ORDER BY created_at, id LIMIT %(limit)s
""")
