"""The mail outbox: a row in the causing transaction, SMTP after commit, retries by schedule."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog

from common import leases, mail
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from common.engine.wakeups import enqueue_on_commit
from tenants import notices, selectors
from tenants.models import OutgoingEmail

log = structlog.get_logger(__name__)

RETRY_AFTER = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 180, 360, 720, 1440))
# Dropped: its reason was over, so it was neither sent nor given up.
NOT_NEEDED = "no longer needed"
# Dropped, too: whom it is for left the team after it was written (decision 0184).
LEFT = "no longer in the team"
# Longer than a task may run: while a worker holds the lease, no other one sends a second copy.
_LEASE = timedelta(minutes=3)
_MESSAGES_PER_RUN_MAX = 200
_FAILURES_PER_RUN_MAX = 3

ContextBuilder = Callable[[OutgoingEmail, datetime], Mapping[str, Any] | None]
_builders: dict[str, ContextBuilder] = {}
# Templates that people get who are not in the team.
_for_others: set[str] = set()


def builds_context(template: str) -> Callable[[ContextBuilder], ContextBuilder]:
    """Register the function that completes a template's context when the e-mail is sent.

    Used for what must not be stored, such as a magic link. If it returns None the e-mail is
    dropped: its reason is gone (somebody already answered).
    """

    def register(builder: ContextBuilder) -> ContextBuilder:
        _builders[template] = builder
        return builder

    return register


def is_for_others(template: str) -> None:
    """Register a template that people get who are not in the tenant's team, or not any more. If it
    says more of the tenant than its name, its builder decides who gets it."""
    _for_others.add(template)


def queue(
    *,
    tenant_id: str | None,
    to: str,
    template: str,
    context: dict[str, Any],
    now: datetime,
    send_at: datetime | None = None,
) -> OutgoingEmail:
    """Write an e-mail into the outbox, in the caller's transaction."""
    email = OutgoingEmail.objects.create(
        tenant_id=tenant_id,
        to=to,
        template=template,
        context=context,
        created_at=now,
        next_attempt_at=send_at or now,
    )
    enqueue_on_commit("tenants.send_due_emails")
    return email


def queued_within_a_day(*, tenant_id: str, template: str, now: datetime) -> int:
    """How many e-mails of a kind a tenant caused in the last 24 hours, for limits on them."""
    return OutgoingEmail.objects.filter(
        tenant_id=tenant_id, template=template, created_at__gt=now - timedelta(days=1)
    ).count()


def queue_notice(*, tenant_id: str, template: str, context: dict[str, Any], now: datetime) -> None:
    """Write one of `tenants.notices` into the outbox, for each member who wants it."""
    notice = notices.of_template(template)
    for address in selectors.notice_emails(tenant_id=tenant_id, notice=notice):
        queue(tenant_id=tenant_id, to=address, template=template, context=context, now=now)


@by(WORKER)
@judged
def send_due(*, now: datetime) -> int:
    """Send what is due, oldest first; returns how many e-mails are done with.

    At least once: a crash after the mail server accepted one means a second copy. Three failures
    end the run, so that a dead server does not hold a worker; the next sweep goes on.
    """
    done, failed, since = 0, 0, time.monotonic()
    while failed < _FAILURES_PER_RUN_MAX and done < _MESSAGES_PER_RUN_MAX:
        claimed = leases.claim(
            OutgoingEmail.objects.all(), now=now, limit=1, lease=_LEASE, since=since
        )
        if not claimed:
            break
        if _send(claimed[0], now):
            done += 1
        else:
            failed += 1
    return done


def _send(email: OutgoingEmail, now: datetime) -> bool:
    try:
        if _has_left(email):
            return leases.finish(email, last_error=LEFT)
        builder = _builders.get(email.template)
        context = builder(email, now) if builder else email.context
        if context is None:
            return leases.finish(email, last_error=NOT_NEEDED)
        mail.send(template=email.template, to=email.to, context=context)
    except Exception as error:  # whatever is wrong with one message, the others still go out
        _retry_later(email, error, now)
        return False
    return leases.finish(email, sent_at=now, last_error="")


def _has_left(email: OutgoingEmail) -> bool:
    """Whether it would tell somebody of a tenant whose team they are in no more."""
    if email.tenant_id is None or email.template in _for_others:
        return False
    return selectors.has_left(tenant_id=email.tenant_id, email=email.to)


def _retry_later(email: OutgoingEmail, error: Exception, now: datetime) -> None:
    reason = type(error).__name__
    log.warning(
        "email_not_sent",
        email_id=email.pk,
        template=email.template,
        reason=reason,
        exc_info=not isinstance(error, OSError),
    )
    if email.attempts > len(RETRY_AFTER):
        leases.finish(email, failed_at=now, last_error=reason)
        return
    later = now + RETRY_AFTER[email.attempts - 1]
    leases.finish(email, next_attempt_at=later, last_error=reason)
