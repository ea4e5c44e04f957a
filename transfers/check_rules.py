"""The rules of `transfers.checks`. Each is one statement that returns what breaks the rule.

`%(ids)s` are the transfers to judge, some hundred at a time.
"""

from __future__ import annotations

from psycopg.sql import SQL

# The pending (or locked) balance is the sum of the open transfers. The statuses are part of the
# text, because a generic plan cannot know that a parameter fits the partial index.
TOTAL = SQL("""
SELECT coalesce(balance.tenant_id, transfer.tenant_id), 'balance',
    {total_name} || ' is ' || coalesce(balance.{total}, 0)
    || ', the open rows sum to ' || coalesce(transfer.total, 0)
FROM (
    SELECT tenant_id, {total} FROM balance
    WHERE %(tenant_ids)s::text[] IS NULL OR tenant_id = ANY(%(tenant_ids)s)
) AS balance
FULL JOIN (
    SELECT tenant_id, sum(amount) AS total FROM {table}
    WHERE status IN ({open})
        AND (%(tenant_ids)s::text[] IS NULL OR tenant_id = ANY(%(tenant_ids)s))
    GROUP BY tenant_id
) AS transfer USING (tenant_id)
WHERE coalesce(balance.{total}, 0) <> coalesce(transfer.total, 0)
""")

# A transfer that is to be sent is due soon: nothing else would ever send it. One that is parked has
# a reason that concerns it, as in `transfers.claims`; a reason that has just ended may not have
# reached a sweep.
NEVER_DUE = SQL("""
SELECT transfer.tenant_id, transfer.id, transfer.status || ', but due '
    || coalesce(greatest(transfer.next_attempt_at, transfer.leased_until)::text, 'never')
    || CASE transfer.parked_for WHEN '' THEN '' ELSE ', parked for ' || transfer.parked_for END
FROM {table} AS transfer
WHERE transfer.status IN ({open}) AND ({to_be_sent})
    AND (transfer.next_attempt_at IS NULL OR transfer.next_attempt_at > ballast_now() + {never}
        OR transfer.leased_until > ballast_now() + {never}
        OR transfer.parked_for <> '' AND transfer.held_at IS NULL
            AND NOT EXISTS (SELECT FROM tenants_switch AS switch
                WHERE switch.id = transfer.parked_for AND switch.kind = {stopped_by}
                    AND (switch.tenant_id = transfer.tenant_id
                        OR switch.tenant_id IS NULL AND switch.network IN ('', transfer.network))
                    AND coalesce(switch.released_at > ballast_now() - {soon}, true))
            AND NOT EXISTS (SELECT FROM tenants_tenant AS tenant
                WHERE tenant.id = transfer.parked_for AND tenant.id = transfer.tenant_id
                    AND (tenant.status <> 'active' OR EXISTS (
                    SELECT FROM tenants_auditevent AS line WHERE line.tenant_id = tenant.id
                        AND line.action = 'tenant.released'
                        AND line.created_at > ballast_now() - {soon})))
            AND NOT EXISTS (SELECT FROM rails_route AS route
                JOIN tenants_tenant AS tenant ON tenant.mode = route.mode
                WHERE route.id = transfer.parked_for AND tenant.id = transfer.tenant_id
                    AND (NOT route.is_open OR route.rail_id <> transfer.network
                        OR route.development OR route.changed_at > ballast_now() - {soon})))
    AND (%(tenant_ids)s::text[] IS NULL OR transfer.tenant_id = ANY(%(tenant_ids)s))
""")

# The transfer that an event or a row of history names exists.
VANISHED = SQL("""
SELECT event.tenant_id, event.payment_id, 'is gone, but its event ' || event.id || ' is there'
FROM {outbox} AS event
LEFT JOIN {table} AS transfer ON transfer.id = event.payment_id
WHERE starts_with(event.payment_id, {id_prefix}) AND transfer.id IS NULL
    AND (%(full)s OR event.created_at > %(since)s)
    AND (%(tenant_ids)s::text[] IS NULL OR event.tenant_id = ANY(%(tenant_ids)s))
""")

POSTINGS = SQL("""
SELECT transfer.tenant_id, transfer.id,
    transfer.status || ' with postings ' || coalesce(posted.types::text, 'none')
FROM {table} AS transfer
LEFT JOIN LATERAL (
    SELECT array_agg(type::text ORDER BY sequence) AS types,
        bool_and(amount = transfer.amount) AS fits
    FROM balance_transaction
    WHERE tenant_id = transfer.tenant_id
        AND source_type = %(source_type)s AND source_id = transfer.id
) AS posted ON true
WHERE transfer.id = ANY(%(ids)s) AND (
    coalesce(posted.types, ARRAY[]::text[]) <> ({postings})::text[] OR posted.fits IS FALSE)
""")

# The operator's lines are those of the status, each with the amount, the rail and the tenant of the
# transfer.
BOOKS = SQL("""
SELECT transfer.tenant_id, transfer.id, transfer.status || ' with the operator''s lines '
    || coalesce(booked.steps::text, 'none') || CASE WHEN booked.fits THEN ''
        ELSE ', of another amount, rail or tenant' END
FROM {table} AS transfer
LEFT JOIN LATERAL (
    SELECT array_agg(step::text ORDER BY step COLLATE "C") AS steps,
        bool_and((line.amount, line.rail, line.tenant_id)
            IS NOT DISTINCT FROM (transfer.amount, transfer.network, transfer.tenant_id)) AS fits
    FROM balance_operator_line AS line
    WHERE line.source_id = transfer.id AND line.source_type = %(source_type)s
) AS booked ON true
WHERE transfer.id = ANY(%(ids)s) AND (
    coalesce(booked.steps, ARRAY[]::text[]) <> ({books})::text[] OR booked.fits IS FALSE)
""")

# A dishonored return is that of a returned transfer, as the messages say, and its postings and the
# operator's lines are those of what became of it. `first` and `second` are those messages.
DISHONORED = SQL("""
SELECT dishonor.tenant_id, dishonor.id, 'of ' || dishonor.subject_id || CASE
    WHEN NOT said.fits THEN ', which its messages or the transfer do not say'
    ELSE ' with postings ' || coalesce(posted.types::text, 'none') || ' and the operator''s lines '
        || coalesce(booked.steps::text, 'none') END
FROM network_inbox_returndishonor AS dishonor
LEFT JOIN {table} AS transfer ON transfer.id = dishonor.subject_id
LEFT JOIN network_inbox_inboundevent AS first ON first.id = dishonor.dishonored_id
LEFT JOIN network_inbox_inboundevent AS second ON second.id = dishonor.contested_id
CROSS JOIN LATERAL (SELECT
    transfer.returned IS TRUE
    AND ROW(transfer.tenant_id, transfer.network, transfer.amount)
        IS NOT DISTINCT FROM ROW(dishonor.tenant_id, dishonor.network, dishonor.amount)
    AND dishonor.direction = {direction}
    AND (first.id IS NULL OR (first.instruction_id, first.kind, first.outcome, first.amount)
        = (dishonor.subject_id COLLATE "default", 'return_dishonored', 'applied', dishonor.amount))
    AND (second.id IS NULL OR (second.instruction_id, second.kind, second.outcome, second.amount)
        = (dishonor.subject_id COLLATE "default", 'return_contested', 'applied', dishonor.amount))
    AS fits) AS said
LEFT JOIN LATERAL (
    SELECT array_agg(type::text ORDER BY sequence) AS types,
        bool_and(amount = dishonor.amount) AS fits
    FROM balance_transaction
    WHERE tenant_id = dishonor.tenant_id AND source_type = 'return_dishonor'
        AND source_id = dishonor.id
) AS posted ON true
LEFT JOIN LATERAL (
    SELECT array_agg(step::text ORDER BY step COLLATE "C") AS steps,
        bool_and((line.amount, line.rail, line.tenant_id)
            IS NOT DISTINCT FROM (dishonor.amount, dishonor.network, dishonor.tenant_id)) AS fits
    FROM balance_operator_line AS line
    WHERE line.source_id = dishonor.id AND line.source_type = 'return_dishonor'
) AS booked ON true
WHERE starts_with(dishonor.subject_id, {id_prefix})
    AND (%(full)s OR dishonor.changed_at > %(since)s)
    AND (%(tenant_ids)s::text[] IS NULL OR dishonor.tenant_id = ANY(%(tenant_ids)s))
    AND (NOT said.fits OR posted.fits IS FALSE OR booked.fits IS FALSE
        OR coalesce(posted.types, ARRAY[]::text[]) <> CASE
            WHEN dishonor.counted_at IS NULL THEN ARRAY[]::text[]
            WHEN dishonor.contested_id IS NULL THEN ARRAY[{counts}]
            ELSE ARRAY[{counts}, {undoes}] END
        OR coalesce(booked.steps, ARRAY[]::text[]) <> ARRAY(
            SELECT step FROM unnest(
                ARRAY[{dishonored}, {counted}, {contested}, {undone}],
                ARRAY[dishonor.dishonored_id IS NOT NULL,
                    dishonor.counted_at IS NOT NULL,
                    dishonor.dishonored_id IS NOT NULL AND dishonor.contested_id IS NOT NULL,
                    dishonor.counted_at IS NOT NULL AND dishonor.contested_id IS NOT NULL]
            ) AS wanted (step, is_there)
            WHERE is_there ORDER BY step COLLATE "C"))
""")

# The history has no gaps, each step is a move of the machine, and the last one leads to the status
# of the row.
HISTORY = SQL("""
SELECT transfer.tenant_id, transfer.id, 'history ' || coalesce(steps.path, 'is empty')
    || ' does not lead to ' || transfer.status
FROM {table} AS transfer
LEFT JOIN LATERAL (
    SELECT string_agg(to_status, ' > ' ORDER BY sequence) AS path,
        (array_agg(to_status ORDER BY sequence DESC))[1] AS ends_in,
        count(*) AS length,
        bool_and(from_status = before AND sequence = number
            AND before || '>' || to_status = ANY(%(moves)s)) AS is_legal
    FROM (
        SELECT *, lag(to_status, 1, '') OVER (ORDER BY sequence) AS before,
            row_number() OVER (ORDER BY sequence) AS number
        FROM {history} WHERE {foreign_key} = transfer.id
    ) AS step
) AS steps ON true
WHERE transfer.id = ANY(%(ids)s) AND (
    steps.ends_in IS DISTINCT FROM transfer.status
    OR steps.length <> transfer.history_length
    OR steps.is_legal IS DISTINCT FROM true)
""")

# The row's own dates are those of its history, as far as its steps are still dated.
DATES = SQL("""
SELECT transfer.tenant_id, transfer.id, step.to_status || ' is dated '
    || coalesce(({date})::text, 'never') || ', in the history ' || step.created_at
FROM {history} AS step JOIN {table} AS transfer ON transfer.id = step.{foreign_key}
WHERE transfer.id = ANY(%(ids)s) AND ({date}) IS DISTINCT FROM step.created_at AND ({dated})
""")

# The bank account is the one that each step of the history names. Older steps name none.
ACCOUNT = SQL("""
SELECT transfer.tenant_id, transfer.id, 'goes by ' || transfer.{account_key}
    || ', which ' || CASE WHEN account.id IS NULL THEN 'is gone'
        WHEN account.tenant_id <> transfer.tenant_id THEN 'belongs to ' || account.tenant_id
        WHEN transfer.account_version NOT BETWEEN 1 AND account.version
            THEN 'has no version ' || transfer.account_version
        ELSE 'its history does not name' END
FROM {table} AS transfer
LEFT JOIN {accounts} AS account ON account.id = transfer.{account_key}
WHERE transfer.id = ANY(%(ids)s) AND (
    account.id IS NULL OR account.tenant_id <> transfer.tenant_id
    OR transfer.account_version NOT BETWEEN 1 AND account.version
    OR EXISTS (
        SELECT FROM {history} AS step
        WHERE step.{foreign_key} = transfer.id AND step.account_id <> ''
            AND step.account_id <> transfer.{account_key}))
""")

# Money arrived, left or came back exactly where the network said so, with this amount. A message
# that a person resolved counts for what it says if the audit log names that person. Before "final"
# was a word of its own it was called "settled", without a date. Our ids have the collation "C"; ids
# of networks and the audit log have the database's: without COLLATE no index would serve them.
MESSAGES = SQL("""
SELECT transfer.tenant_id, transfer.id, transfer.status || CASE WHEN said.fits IS FALSE
    THEN ', but a message applied to it has another amount or network'
    WHEN said.put_away THEN ', and a message that nobody resolved is called so'
    ELSE ', but the network has said ' || coalesce(said.kinds, 'nothing') END
FROM {table} AS transfer
LEFT JOIN LATERAL (
    SELECT string_agg(kind, ', ' ORDER BY id) AS kinds,
        bool_or(kind = 'final' OR kind = 'settled' AND settlement_date IS NULL) AS final,
        bool_or((kind = 'final' OR kind = 'settled' AND settlement_date IS NULL)
            AND outcome = 'applied') AS final_here,
        bool_or(kind = 'returned') AS returned,
        bool_or(kind = 'returned' AND outcome = 'applied') AS returned_here,
        bool_and(amount = transfer.amount AND currency = transfer.currency
            AND ({heard})) FILTER (WHERE outcome = 'applied') AS fits,
        bool_or(outcome = 'resolved' AND NOT EXISTS (
            SELECT FROM tenants_auditevent AS line
            WHERE line.subject_id = transfer.id COLLATE "default"
                AND line.action = 'network_event.resolved'
                AND line.details ->> 'eventId' = message.event_id)) AS put_away
    FROM network_inbox_inboundevent AS message
    WHERE instruction_id = transfer.id COLLATE "default"
        AND outcome IN ('applied', 'resolved')
) AS said ON true
WHERE transfer.id = ANY(%(ids)s) AND (
    (transfer.completed_at IS NOT NULL AND said.final IS NOT TRUE)
    OR (transfer.completed_at IS NULL AND said.final_here)
    OR (transfer.returned AND said.returned IS NOT TRUE)
    OR (NOT transfer.returned AND said.returned_here)
    OR said.put_away
    OR said.fits IS FALSE)
""")

# Each transition that has an event has exactly one, and they are numbered in order. Events are
# deleted after 30 days.
_TOLD = """
WITH transfer AS (
    SELECT * FROM {table} WHERE id = ANY(%(ids)s)
), expected AS (
    SELECT id, type, to_status, created_at, (row_number() OVER (
        PARTITION BY id ORDER BY sequence))::int AS sequence
    FROM (
        SELECT transfer.id, step.sequence, step.to_status, step.created_at, {events} AS type
        FROM {history} AS step JOIN transfer ON transfer.id = step.{foreign_key}
    ) AS step WHERE type IS NOT NULL
), actual AS (
    SELECT payment_id AS id, sequence, event.id AS event_id, tenant_id, type, body, created_at
    FROM {outbox} AS event WHERE payment_id = ANY(%(ids)s)
)
"""
EVENTS = SQL(
    _TOLD
    + """
SELECT DISTINCT transfer.tenant_id, transfer.id,
    'transitions and events differ in ' || coalesce(expected.type, actual.type)
FROM expected FULL JOIN actual USING (id, sequence) JOIN transfer USING (id)
WHERE coalesce(actual.created_at, expected.created_at) > ballast_now() - interval '29 days'
    AND (actual.type IS DISTINCT FROM expected.type
        OR sequence > transfer.event_sequence)
"""
)

# The body of an event says what happened. Text that is no compact JSON is not parsed, because a
# cast that fails would end the audit.
EVENT_BODY = SQL(
    _TOLD  # noqa: S608  # our own text
    + """
, told AS (
    SELECT *, CASE WHEN encode(body, 'hex') ~ '^([2-7][0-9a-f])*$' THEN
        CASE WHEN convert_from(body, 'UTF8') IS JSON OBJECT
        THEN convert_from(body, 'UTF8')::jsonb END END AS says
    FROM actual
)
SELECT transfer.tenant_id, transfer.id, 'event ' || told.event_id || ' does not say what happened'
FROM expected JOIN told USING (id, sequence, type) JOIN transfer USING (id)
WHERE told.created_at > ballast_now() - interval '29 days' AND (
    told.tenant_id <> transfer.tenant_id OR told.created_at <> expected.created_at
    OR told.says IS NULL
    OR NOT told.says @> jsonb_build_object(
        'id', told.event_id,
        'type', told.type,
        'timestamp', to_char(told.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'data', jsonb_build_object(
            'paymentId', transfer.id,
            'amount', transfer.amount,
            'status', expected.to_status,
            'currency', transfer.currency,
            'direction', {direction},
            'sequence', sequence,
            'failureCode', CASE WHEN expected.to_status IN ('failed', 'returned', 'canceled')
                THEN nullif(transfer.failure_code, '') END,
            'returnCode', CASE WHEN expected.to_status IN ('failed', 'returned', 'canceled')
                THEN nullif(transfer.return_code, '') END)))
"""
)

# What the usual check looks at: transfers that moved lately, and unsent ones, which would do harm
# if they were sent with wrong terms.
RECENT = SQL("""
SELECT transfer.id FROM {table} AS transfer
WHERE (transfer.status IN ({unsent}) OR transfer.id IN (
        SELECT {foreign_key} FROM {history} WHERE created_at > %(since)s
    )) AND (%(tenant_ids)s::text[] IS NULL OR transfer.tenant_id = ANY(%(tenant_ids)s))
ORDER BY transfer.id
""")

# A tenant's rows in the order in which they were made. A page starts after the last row of the
# page before.
PAGE = SQL("""
SELECT id FROM {table}
WHERE tenant_id = ANY(%(tenant_ids)s) AND (%(after)s = '' OR (created_at, id) > (
    (SELECT created_at FROM {table} WHERE id = %(after)s), %(after)s))
ORDER BY created_at, id LIMIT %(limit)s
""")
