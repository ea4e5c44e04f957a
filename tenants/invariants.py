"""What must hold of mail: our part of the audit."""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import NEVER, Finding, Scope
from tenants.services import emails

# A mail of no tenant is looked at with everybody's.
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


def check(scope: Scope) -> Iterator[Finding]:
    """A mail was sent, was given up, is due, or was not needed any more when its turn came."""
    values = {**scope.values, "not_needed": emails.NOT_NEEDED}
    yield from audits.found("email_never_due", _NEVER_DUE, values)
