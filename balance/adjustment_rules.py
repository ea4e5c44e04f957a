"""Rules of the audit about adjustments, their ledger lines, their proposals and the audit log."""

from __future__ import annotations

from collections.abc import Iterator

from balance.causes import Cause
from balance.services import ADJUSTMENT
from common import audits
from common.audits import Finding, Scope

CAUSE = Cause(source_type=ADJUSTMENT, table="balance_adjustment", code="adjustment_missing")

# There are few adjustments: staff make them by hand.
_LOOKED_AT = """
(%(tenant_ids)s::text[] IS NULL OR adjustment.tenant_id = ANY(%(tenant_ids)s))
    AND (%(full)s OR adjustment.created_at > %(since)s)
"""

_DIFFERS = f"""
SELECT adjustment.tenant_id, adjustment.id, adjustment.type || ' of ' || adjustment.amount
    || ' with ' || coalesce(posted.type || ' of ' || posted.amount, 'no posting')
FROM balance_adjustment AS adjustment
LEFT JOIN balance_transaction AS posted ON posted.tenant_id = adjustment.tenant_id
    AND posted.source_id = adjustment.id AND posted.source_type = 'adjustment'
WHERE {_LOOKED_AT} AND (
    posted.type IS DISTINCT FROM adjustment.type
    OR posted.amount <> adjustment.amount
    OR posted.description <> adjustment.reason)
"""  # noqa: S608  # our own text

# The audit log has a line about each credit or debit, by the same actor, from the same moment.
_UNRECORDED = f"""
SELECT adjustment.tenant_id, adjustment.id, 'is not in the audit log as it is'
FROM balance_adjustment AS adjustment
WHERE {_LOOKED_AT} AND NOT EXISTS (
    SELECT FROM tenants_auditevent AS event
    WHERE event.subject_id = adjustment.id COLLATE "default"
        AND event.tenant_id = adjustment.tenant_id
        AND event.action = 'balance.' || adjustment.type
        AND event.actor_type = adjustment.actor_type AND event.actor_id = adjustment.actor_id
        AND event.created_at = adjustment.created_at
        AND event.details @> jsonb_build_object(
            'amount', adjustment.amount, 'reason', adjustment.reason))
"""  # noqa: S608  # our own text

# An adjustment by a member of staff was proposed by another one.
_PROPOSAL = f"""
SELECT adjustment.tenant_id, adjustment.id, 'is not what was proposed and approved'
FROM balance_adjustment AS adjustment
LEFT JOIN balance_adjustment_proposal AS proposal ON proposal.adjustment_id = adjustment.id
WHERE {_LOOKED_AT} AND CASE WHEN proposal.id IS NULL THEN adjustment.actor_type = 'staff' ELSE
    proposal.decision <> 'approved'
    OR proposal.tenant_id <> adjustment.tenant_id
    OR proposal.type <> adjustment.type
    OR proposal.amount <> adjustment.amount
    OR proposal.reason <> adjustment.reason
    OR proposal.decided_by_id <> adjustment.actor_id END
"""  # noqa: S608  # our own text

# An approved proposal has its adjustment. A foreign key says so, unless somebody switched it off.
_UNPOSTED = """
SELECT proposal.tenant_id, proposal.id, 'was approved, but its adjustment is gone'
FROM balance_adjustment_proposal AS proposal
WHERE proposal.adjustment_id IS NOT NULL
    AND (%(tenant_ids)s::text[] IS NULL OR proposal.tenant_id = ANY(%(tenant_ids)s))
    AND NOT EXISTS (
        SELECT FROM balance_adjustment AS adjustment WHERE adjustment.id = proposal.adjustment_id)
"""

# The audit log has a line about the proposal and one about the decision. No trigger keeps anybody
# from writing a row that claims it.
_UNWITNESSED = """
SELECT proposal.tenant_id, proposal.id, 'was ' || proposal.decision
    || ' by two people, which the audit log does not say'
FROM balance_adjustment_proposal AS proposal
WHERE proposal.decision <> 'open'
    AND (%(tenant_ids)s::text[] IS NULL OR proposal.tenant_id = ANY(%(tenant_ids)s))
    AND (%(full)s OR proposal.decided_at > %(since)s)
    AND (SELECT count(DISTINCT line.action) FROM tenants_auditevent AS line
        WHERE line.subject_id = proposal.id COLLATE "default" AND line.actor_type = 'staff'
            AND line.details @> jsonb_build_object('amount', proposal.amount)
            AND (line.action, line.actor_id, line.created_at) IN (
                ('adjustment.proposed', proposal.proposed_by_id, proposal.proposed_at),
                ('adjustment.' || proposal.decision, proposal.decided_by_id, proposal.decided_at)
            )) < 2
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Find adjustments that were not proposed, decided, posted and written to the audit log with
    the same terms."""
    yield from audits.found("adjustment_differs", _DIFFERS, scope.values)
    yield from audits.found("adjustment_unrecorded", _UNRECORDED, scope.values)
    yield from audits.found("adjustment_proposal", _PROPOSAL, scope.values)
    yield from audits.found("adjustment_unwitnessed", _UNWITNESSED, scope.values)
    if scope.full:
        yield from audits.found("adjustment_proposal", _UNPOSTED, scope.values)
