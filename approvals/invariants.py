"""What the audit proves of every approval that a person answered."""

from __future__ import annotations

from collections.abc import Iterator

from psycopg.sql import SQL, Identifier

from approvals.policies import AnyPolicy
from common import audits
from common.audits import Finding, Scope

# Each answer has a line in the audit log, with its moment and amount; the oldest lines name no
# amount. An answer by link had a link. The worker that sends the e-mail makes the link, and its
# clock may be some seconds ahead: hence the minute.
_UNWITNESSED = SQL("""
SELECT approval.tenant_id, approval.{subject}, approval.id || ' was ' || approval.decision || ' by '
    || approval.decided_by || ', which the audit log and the links do not say'
FROM {approvals} AS approval
WHERE approval.decision IN ('approved', 'declined')
    AND approval.decided_at > CASE WHEN %(full)s THEN '-infinity' ELSE %(since)s END
    AND (%(tenant_ids)s::text[] IS NULL OR approval.tenant_id = ANY(%(tenant_ids)s))
    AND NOT EXISTS (
        SELECT FROM tenants_auditevent AS line
        WHERE line.subject_id = approval.{subject} COLLATE "default"
            AND line.created_at = approval.decided_at
            AND line.tenant_id = approval.tenant_id
            AND line.action = 'confirmation.' || approval.decision
            AND line.details @> jsonb_build_object('confirmationId', approval.id)
            AND coalesce(line.details -> 'amount', to_jsonb(approval.amount))
                = to_jsonb(approval.amount)
            AND CASE line.actor_type
                WHEN 'user' THEN EXISTS (
                    SELECT FROM tenants_user AS person WHERE person.id = line.actor_id)
                WHEN 'approver' THEN line.actor_id = approval.decided_by AND EXISTS (
                    SELECT FROM {links} AS link WHERE link.confirmation_id = approval.id
                        AND link.approver_email = approval.decided_by
                        AND link.created_at < approval.decided_at + interval '1 minute')
                ELSE false END)
""")


def check(policy: AnyPolicy, scope: Scope, *, code: str) -> Iterator[Finding]:
    """Find answers that neither the audit log nor the links account for."""
    statement = _UNWITNESSED.format(
        approvals=Identifier(policy.approvals().model._meta.db_table),
        links=Identifier(policy.links._meta.db_table),
        subject=Identifier(f"{policy.kind}_id"),
    )
    yield from audits.found(code, statement.as_string(), scope.values)
