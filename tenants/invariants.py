"""What the audit proves of e-mails, of API keys, and of who of our staff has which role."""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import NEVER, Finding, Scope
from tenants.services import emails

# E-mails of no tenant are checked where all tenants are.
_NEVER_DUE = f"""
SELECT email.tenant_id, email.id, email.template || ' is to be sent '
    || coalesce('at ' || email.next_attempt_at, 'at no time')
FROM tenants_outgoingemail AS email
WHERE email.sent_at IS NULL AND email.failed_at IS NULL
    AND (email.next_attempt_at IS NULL
        OR email.next_attempt_at > ballast_now() + {NEVER})
    AND NOT (email.attempts > 0 AND email.last_error = %(not_needed)s)
    AND (%(full)s OR email.created_at > %(since)s)
    AND (%(tenant_ids)s::text[] IS NULL OR email.tenant_id = ANY(%(tenant_ids)s))
"""  # noqa: S608  # our own text

_UNISSUED = """
SELECT key.tenant_id, key.id, 'was issued by nobody, says the audit log'
FROM tenants_apikey AS key
WHERE key.created_at > CASE WHEN %(full)s THEN '-infinity' ELSE %(since)s END
    AND (%(tenant_ids)s::text[] IS NULL OR key.tenant_id = ANY(%(tenant_ids)s))
    AND NOT EXISTS (
        SELECT FROM tenants_auditevent AS line
        WHERE line.subject_id = key.id COLLATE "default" AND line.tenant_id = key.tenant_id
            AND line.action = 'api_key.issued')
"""

# Roles of staff from before there were rows have no line: they are dated as the oldest of all.
_POWERS = """
SELECT '', power.id, role.name || ' of ' || power.user_id || ' was ' || step.word
    || ', which the audit log does not say'
FROM tenants_staffpower AS power
JOIN auth_group AS role ON role.id = power.group_id
CROSS JOIN LATERAL (VALUES ('granted', granted_at), ('ended', ended_at)) AS step (word, at)
WHERE step.at IS NOT NULL
    AND NOT (step.word = 'granted' AND power.granted_by_id IS NULL
        AND step.at = (SELECT min(granted_at) FROM tenants_staffpower))
    AND NOT EXISTS (
        SELECT FROM tenants_auditevent AS line
        WHERE line.subject_id = power.user_id COLLATE "default" AND line.tenant_id IS NULL
            AND line.action = 'staff.' || step.word AND line.created_at = step.at
            AND line.details @> jsonb_build_object('roles', jsonb_build_array(role.name))
            AND (step.word = 'ended' OR CASE line.actor_type
                WHEN 'system' THEN power.granted_by_id IS NULL
                ELSE line.actor_id = power.granted_by_id END))
"""
_GRANTED_BY_TWO = """
SELECT '', power.id, role.name || ' of ' || power.user_id || ' was asked for by '
    || power.asked_by_id || ' and granted by ' || power.granted_by_id || ' in no proposal'
FROM tenants_staffpower AS power
JOIN auth_group AS role ON role.id = power.group_id
WHERE power.granted_by_id IS NOT NULL
    AND NOT EXISTS (
        SELECT FROM tenants_accessproposal AS proposal
        WHERE proposal.kind = 'power' AND proposal.decision = 'approved'
            AND proposal.proposed_by_id = power.asked_by_id
            AND proposal.decided_by_id = power.granted_by_id
            AND proposal.decided_at = power.granted_at
            AND role.name = ANY(proposal.groups))
"""
_UNGRANTED = """
SELECT '', held.user_id, 'is in the group ' || role.name || ', which nobody granted'
FROM tenants_user_groups AS held
JOIN auth_group AS role ON role.id = held.group_id
JOIN tenants_user AS person ON person.id = held.user_id
WHERE person.is_staff AND NOT EXISTS (
    SELECT FROM tenants_staffpower AS power
    WHERE power.user_id = held.user_id AND power.group_id = held.group_id
        AND power.ended_at IS NULL)
"""
_ACCESS = """
SELECT coalesce(proposal.tenant_id, ''), proposal.id, 'access for ' || email || ' was '
    || step.word || coalesce(' by ' || step.doer, '') || ', which the audit log does not say'
FROM tenants_accessproposal AS proposal
CROSS JOIN LATERAL (VALUES
    ('proposed', proposed_by_id, proposed_at), (decision, decided_by_id, decided_at)
) AS step (word, doer, at)
WHERE step.at IS NOT NULL
    AND (%(tenant_ids)s::text[] IS NULL OR proposal.tenant_id = ANY(%(tenant_ids)s))
    AND NOT EXISTS (
        SELECT FROM tenants_auditevent AS line
        WHERE line.subject_id = proposal.id COLLATE "default" AND line.tenant_id IS NULL
            AND line.action = 'access.' || step.word AND line.created_at = step.at
            AND line.actor_id = coalesce(step.doer, '')
            AND line.details @> jsonb_build_object('kind', kind, 'email', email,
                'tenantId', coalesce(proposal.tenant_id, ''), 'role', role,
                'newEmail', new_email, 'roles', to_jsonb(groups), 'emergency', is_emergency))
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Find e-mails that are neither sent, given up, due, nor dropped when their turn came; keys
    that nobody issued; roles of staff, and access, that nobody gave or decided by the audit log."""
    values = {**scope.values, "not_needed": emails.NOT_NEEDED}
    yield from audits.found("email_never_due", _NEVER_DUE, values)
    yield from audits.found("api_key_unissued", _UNISSUED, scope.values)
    yield from audits.found("staff_power_unwitnessed", _POWERS, scope.values)
    yield from audits.found("staff_power_unproposed", _GRANTED_BY_TWO, scope.values)
    yield from audits.found("staff_group_ungranted", _UNGRANTED, scope.values)
    yield from audits.found("access_unwitnessed", _ACCESS, scope.values)
