"""What must hold of every answer, whatever it was about: part of the audit."""

from __future__ import annotations

from collections.abc import Iterator

from psycopg.sql import SQL, Identifier

from approvals.matters import Matter
from common import audits
from common.audits import Finding, Scope

# Who answered has a line in the audit log, of that moment and that amount; the oldest lines name no
# amount. Who answered by link had one: links are made by whoever sends the mail, whose clock may be
# some seconds ahead.
_UNWITNESSED = SQL("""
SELECT question.tenant_id, question.{subject}, question.id || ' was ' || question.decision || ' by '
    || question.decided_by || ', which the audit log and the links do not say'
FROM {questions} AS question
WHERE question.decision IN ('approved', 'declined')
    AND question.decided_at > CASE WHEN %(full)s THEN '-infinity' ELSE %(since)s END
    AND (%(tenant_ids)s::text[] IS NULL OR question.tenant_id = ANY(%(tenant_ids)s))
    AND NOT EXISTS (
        SELECT FROM tenants_auditevent AS line
        WHERE line.subject_id = question.{subject} AND line.created_at = question.decided_at
            AND line.tenant_id = question.tenant_id
            AND line.action = 'confirmation.' || question.decision
            AND line.details @> jsonb_build_object('confirmationId', question.id)
            AND coalesce(line.details -> 'amount', to_jsonb(question.amount))
                = to_jsonb(question.amount)
            AND CASE line.actor_type
                WHEN 'user' THEN EXISTS (
                    SELECT FROM tenants_user AS person WHERE person.id = line.actor_id)
                WHEN 'approver' THEN line.actor_id = question.decided_by AND EXISTS (
                    SELECT FROM {links} AS link WHERE link.confirmation_id = question.id
                        AND link.approver_email = question.decided_by
                        AND link.created_at < question.decided_at + interval '1 minute')
                ELSE false END)
""")


def check(matter: Matter, scope: Scope, *, code: str) -> Iterator[Finding]:
    """Each answer was given by somebody who could: two other tables say so."""
    statement = _UNWITNESSED.format(
        questions=Identifier(matter.questions().model._meta.db_table),
        links=Identifier(matter.links._meta.db_table),
        subject=Identifier(f"{matter.subject}_id"),
    )
    yield from audits.found(code, statement.as_string(), scope.values)
