"""What the audit proves of e-mails and of API keys."""

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


def check(scope: Scope) -> Iterator[Finding]:
    """Find e-mails that are neither sent, given up, due, nor dropped when their turn came; and keys
    that nobody issued."""
    values = {**scope.values, "not_needed": emails.NOT_NEEDED}
    yield from audits.found("email_never_due", _NEVER_DUE, values)
    yield from audits.found("api_key_unissued", _UNISSUED, scope.values)
