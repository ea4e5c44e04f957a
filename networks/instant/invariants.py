"""What must hold between what networks said, the conversations it is about, and what was told of
them: this app's part of the audit."""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import NEVER, Finding, Scope

_MINE = """(%(tenant_ids)s::text[] IS NULL OR conversation.tenant_id = ANY(%(tenant_ids)s))
    AND (%(full)s OR coalesce(conversation.ended_at, conversation.created_at)
        >= %(since)s::timestamptz)"""

# What an instruction came to was told: once, in full, and nothing that contradicts it.
_TOLD = f"""
SELECT conversation.tenant_id, conversation.instruction_id,
    'is ' || conversation.status || ', and told: ' || coalesce(nullif(told.kinds, ''), 'nothing')
FROM instant_conversation AS conversation
CROSS JOIN LATERAL (
    SELECT coalesce(string_agg(event.kind, ', ' ORDER BY event.kind), '') AS kinds,
        coalesce(bool_and(event.amount = conversation.amount), true) AS in_full
    FROM instant_instantevent AS event
    WHERE event.conversation_id = conversation.id AND event.voided_at IS NULL
        AND event.kind <> 'accepted'
) AS told
WHERE {_MINE} AND conversation.kind <> 'credit' AND NOT (told.in_full AND CASE conversation.status
    WHEN 'settled' THEN told.kinds = 'final, settled'
    WHEN 'final' THEN told.kinds = 'final, settled'
    WHEN 'coming_back' THEN told.kinds = 'settled'
    WHEN 'returned' THEN told.kinds IN ('final, returned, settled', 'returned, settled')
    WHEN 'rejected' THEN told.kinds IN ('rejected', 'rejected, settled')
    WHEN 'expired' THEN told.kinds = 'rejected'
    WHEN 'withdrawn' THEN told.kinds = 'rejected'
    ELSE told.kinds = '' END)
"""  # noqa: S608  # our own text
# One credit at most pays a request or gives a payment back, and it is of the same amount.
_PAID_ONCE = f"""
SELECT conversation.tenant_id, conversation.instruction_id,
    'is ' || conversation.status || ', with ' || paid.times || ' credits of '
    || coalesce(paid.cents, 0) || ' of ' || conversation.amount || ' cents'
FROM instant_conversation AS conversation
CROSS JOIN LATERAL (
    SELECT count(*) AS times, sum(credit.amount) AS cents
    FROM instant_conversation AS credit
    WHERE credit.original_id = conversation.id AND credit.kind = 'credit'
        AND credit.mismatch = '' AND credit.status IN ('final', 'returned')
) AS paid
WHERE {_MINE} AND conversation.kind IN ('request', 'payment')
    AND (paid.times > 0 OR conversation.kind = 'request')
    AND CASE
        WHEN conversation.kind = 'request' AND conversation.status IN ('final', 'returned')
            THEN paid.times <> 1 OR paid.cents <> conversation.amount
        WHEN conversation.kind = 'payment' AND conversation.status = 'returned'
            THEN paid.times <> 1 OR paid.cents <> conversation.amount
        ELSE paid.times > 0 END
"""  # noqa: S608  # our own text
# The network said what it came to: a status report of it was applied, or an answer.
_SAID = f"""
SELECT conversation.tenant_id, conversation.instruction_id,
    'is ' || conversation.status || ', and no message from the network says so'
FROM instant_conversation AS conversation
WHERE {_MINE} AND conversation.kind IN ('payment', 'give_back')
    AND conversation.status IN ('settled', 'coming_back', 'final', 'returned')
    AND NOT EXISTS (
        SELECT FROM instant_message AS message
        WHERE message.conversation_id = conversation.id AND message.direction = 'in'
            AND message.name = 'pacs.002' AND message.status = 'applied'
            AND message.said ~ '^(ACTC|ACSC|ACCC|ACWP)')
"""  # noqa: S608  # our own text
# Of the orders of one payment, all but the newest were refused for good.
_ORDERED_ONCE = f"""
SELECT conversation.tenant_id, conversation.instruction_id,
    'message ' || message.message_id || ' orders it again, and the one before is '
    || former.status
FROM instant_conversation AS conversation
JOIN instant_message AS message ON message.conversation_id = conversation.id
    AND message.direction = 'out' AND message.name IN ('pacs.008', 'pacs.004')
JOIN instant_message AS former ON former.conversation_id = conversation.id
    AND former.direction = 'out' AND former.name = message.name AND former.id < message.id
WHERE {_MINE} AND conversation.attempts > 1 AND NOT EXISTS (
    SELECT FROM instant_message AS said
    WHERE said.related_id = former.id AND said.direction = 'in' AND said.status = 'applied'
        AND said.said LIKE 'RJCT%%')
"""  # noqa: S608  # our own text
# Whatever is not a person's matter is due.
_FORGOTTEN = f"""
SELECT '', message.message_id, 'a message ' || CASE message.direction WHEN 'out' THEN 'to ' ELSE
    'from ' END || message.rail_id || ' that is ' || message.status || ' and due at '
    || coalesce(greatest(message.next_attempt_at, message.leased_until)::text, 'no time')
FROM instant_message AS message
WHERE message.status IN ('to_send', 'received') AND (message.next_attempt_at IS NULL
    OR message.next_attempt_at > ballast_now() + {NEVER}
    OR message.leased_until > ballast_now() + {NEVER})
UNION ALL
SELECT '', rail_id, 'is listened to at ' || coalesce(
    greatest(next_attempt_at, leased_until)::text, 'no time')
FROM instant_instantline
WHERE next_attempt_at IS NULL OR next_attempt_at > ballast_now() + {NEVER}
    OR leased_until > ballast_now() + {NEVER}
"""  # noqa: S608  # our own text


def check(scope: Scope) -> Iterator[Finding]:
    """Check that what the networks said was told once and in full, that no money was ordered or
    counted twice, and that no message was forgotten."""
    yield from audits.found("instant_told", _TOLD, scope.values)
    yield from audits.found("instant_paid_once", _PAID_ONCE, scope.values)
    yield from audits.found("instant_unsaid", _SAID, scope.values)
    yield from audits.found("instant_ordered_once", _ORDERED_ONCE, scope.values)
    yield from audits.found("instant_forgotten", _FORGOTTEN, scope.values)
