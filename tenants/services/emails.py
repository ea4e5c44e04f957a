"""The mail outbox: a row in the causing transaction, SMTP after commit, retries by schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Any

import structlog
from django.db.models import QuerySet

from common import leases, mail
from common.tasks import enqueue_on_commit
from tenants.models import OutgoingEmail

log = structlog.get_logger(__name__)

RETRY_AFTER = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 180, 360, 720, 1440))
_BATCH = 20

ContextBuilder = Callable[[OutgoingEmail, datetime], Mapping[str, Any] | None]
_builders: dict[str, ContextBuilder] = {}


def builds_context(template: str) -> Callable[[ContextBuilder], ContextBuilder]:
    """Register the function that completes a template's context when the message is sent.

    Used for what must not be stored, such as a magic link. Returning None drops the message:
    its reason is gone (somebody already decided).
    """

    def register(builder: ContextBuilder) -> ContextBuilder:
        _builders[template] = builder
        return builder

    return register


def queue(
    *,
    tenant_id: str | None,
    to: str,
    template: str,
    context: dict[str, Any],
    now: datetime,
    send_at: datetime | None = None,
) -> OutgoingEmail:
    """Write a message into the outbox, in the caller's transaction."""
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


def send_due(*, now: datetime) -> int:
    """Send what is due. At least once: a crash after SMTP accepted means a second copy."""
    sent = 0
    while rows := leases.claim(_unsent(), now=now, limit=_BATCH):
        sent += sum(_send(email, now) for email in rows)
    return sent


def _unsent() -> QuerySet[OutgoingEmail]:
    return OutgoingEmail.objects.all()


def _send(email: OutgoingEmail, now: datetime) -> bool:
    builder = _builders.get(email.template)
    context = builder(email, now) if builder else email.context
    if context is None:
        leases.settle(email, last_error="no longer needed")
        return False
    try:
        mail.send(template=email.template, to=email.to, context=context)
    except (SMTPException, OSError) as error:
        _retry_later(email, error, now)
        return False
    return leases.settle(email, sent_at=now, last_error="")


def _retry_later(email: OutgoingEmail, error: Exception, now: datetime) -> None:
    reason = type(error).__name__
    log.warning("email_not_sent", email_id=email.pk, template=email.template, reason=reason)
    if email.attempts > len(RETRY_AFTER):
        leases.settle(email, failed_at=now, last_error=reason)
        return
    later = now + RETRY_AFTER[email.attempts - 1]
    leases.settle(email, next_attempt_at=later, last_error=reason)
