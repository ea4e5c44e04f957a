"""What must hold for the networks' messages by themselves: this app's part of the audit.

The apps that own the rows check whether messages fit them.
"""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import NEVER, Finding, Scope

# There are few new messages, and an index finds them. A message has no tenant before it is applied.
_NEVER_DUE = f"""
SELECT '', message.network || ' ' || message.event_id, 'about ' || message.instruction_id
    || ' waits until ' || message.next_attempt_at
FROM network_inbox_inboundevent AS message
WHERE message.next_attempt_at > ballast_now() + {NEVER}
"""  # noqa: S608  # our own text

# A settlement by hand cannot be compared with the bank's books. Two people vouch for it: each has a
# line in the audit log, and the message says what was approved.
_UNRECORDED = """
SELECT settlement.tenant_id, settlement.subject_id,
    'settled by hand (' || settlement.id || '), which the audit log or its message does not say'
FROM network_inbox_handsettlement AS settlement
JOIN network_inbox_inboundevent AS message ON message.id = settlement.event_id
WHERE settlement.decision = 'approved'
    AND (%(tenant_ids)s::text[] IS NULL OR settlement.tenant_id = ANY(%(tenant_ids)s))
    AND (ROW(message.instruction_id, CASE message.kind WHEN 'final' THEN 'settled'
            ELSE message.kind END, message.amount, message.by_hand)
            IS DISTINCT FROM ROW(settlement.subject_id, settlement.kind, settlement.amount,
                settlement.decided_by_id)
        OR (SELECT count(DISTINCT line.action) FROM tenants_auditevent AS line
            WHERE line.subject_id = settlement.id COLLATE "default"
                AND line.actor_type = 'staff'
                AND (line.action, line.actor_id) IN (
                    ('settlement.proposed', settlement.proposed_by_id),
                    ('settlement.approved', settlement.decided_by_id))) < 2)
UNION ALL
SELECT '', message.instruction_id, 'message by hand that nobody approved: ' || message.event_id
FROM network_inbox_inboundevent AS message
WHERE message.by_hand <> '' AND NOT EXISTS (
    SELECT FROM network_inbox_handsettlement AS settlement
    WHERE settlement.event_id = message.id AND settlement.decision = 'approved')
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Check that new messages are due, and that two people approved each settlement by hand."""
    yield from audits.found("message_never_due", _NEVER_DUE, scope.values)
    yield from audits.found("settlement_unrecorded", _UNRECORDED, scope.values)
