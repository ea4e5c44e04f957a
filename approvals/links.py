"""Magic links: one per mail and approver, made when the mail is sent, kept only as a digest.

A link opens one question, shows it to whoever holds it, and decides in its approver's name. All
links of a question work until it is decided.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from approvals import matters
from approvals.errors import UnknownConfirmation
from approvals.matters import Matter
from approvals.models import Decision, MagicLink, Question
from common import clock
from tenants.models import OutgoingEmail
from tenants.services import emails

REQUEST_MAIL = "confirmation_request"
REMINDER_MAIL = "confirmation_reminder"
MADE_UP_APPROVER = "approver@sandbox.invalid"
_TOKEN_BYTES = 32
_TOKEN = re.compile(r"[0-9A-Za-z_-]{43}")


@dataclass(frozen=True, kw_only=True)
class ApproverLinks:
    """The links of one question by approver; none once it is decided or over."""

    question: Question
    urls: dict[str, str]


def mint(matter: Matter, question: Question, *, approver_email: str, now: datetime) -> str:
    """The address of a new link: the only moment at which its token exists here."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    link = matter.links(approver_email=approver_email, digest=_digest(token), created_at=now)
    link.confirmation_id = question.pk
    link.save(force_insert=True)
    return f"{settings.BASE_URL}/confirm/{token}/"


@transaction.atomic
def for_sandbox(matter: Matter, *, tenant_id: str, subject_id: str, now: datetime) -> ApproverLinks:
    """New links to decide about a subject, as the e-mails would bring. Raises UnknownConfirmation.

    With nobody to ask there is one of a made-up approver, so that a test needs no people.
    """
    question = matter.about(tenant_id=tenant_id, subject_id=subject_id)
    if question is None:
        raise UnknownConfirmation("Nobody is asked about this.")
    is_open = question.decision == Decision.OPEN and now < question.expires_at
    approvers = (question.approvers or [MADE_UP_APPROVER]) if is_open else []
    return ApproverLinks(
        question=question,
        urls={
            address: mint(matter, question, approver_email=address, now=now)
            for address in approvers
        },
    )


def find(token: str) -> tuple[Matter, MagicLink] | None:
    """The link of this token; one query for each matter, none for nonsense."""
    if not _TOKEN.fullmatch(token):
        return None
    for matter in matters.every():
        link = matter.links._default_manager.filter(digest=_digest(token)).first()
        if link is not None:
            return matter, link
    return None


def queue(
    matter: Matter,
    question: Question,
    *,
    to: Iterable[str],
    template: str,
    now: datetime,
    send_at: datetime | None = None,
) -> None:
    """Send each of these approvers a mail with a link of their own, now or at `send_at`."""
    for address in to:
        emails.queue(
            tenant_id=question.tenant_id,
            to=address,
            template=template,
            context={"kind": matter.kind, "confirmation_id": question.pk},
            now=now,
            send_at=send_at,
        )


def put_off(question: Question, *, now: datetime) -> set[str]:
    """Whose mail about this question is yet to be sent, later than now."""
    mails = OutgoingEmail.objects.filter(
        tenant_id=question.tenant_id,
        template=REQUEST_MAIL,
        created_at__gte=question.created_at,
        context__confirmation_id=question.pk,
        attempts=0,
        next_attempt_at__gt=now,
    )
    return set(mails.values_list("to", flat=True))


def facts(matter: Matter, question: Question) -> dict[str, Any]:
    """What every mail about the question says."""
    return {
        "kind": matter.kind,
        "tenant_name": question.tenant.name,
        "amount": question.amount,
        "holder_name": question.account.account_holder_name,
        "bank_name": question.account.bank_name,
        "last4": question.account.last4,
    }


@emails.builds_context(REQUEST_MAIL)
@emails.builds_context(REMINDER_MAIL)
def _context(email: OutgoingEmail, now: datetime) -> dict[str, Any] | None:
    """What the mail says; None once the question is closed. Each attempt mints a new link."""
    matter = matters.get(email.context["kind"])
    open_ones = matter.questions().filter(decision=Decision.OPEN, expires_at__gt=now)
    question = open_ones.filter(pk=email.context["confirmation_id"]).first()
    if question is None:
        return None
    return {
        **facts(matter, question),
        "reason": question.reason,
        "requested_at": clock.text_of(question.created_at),
        "expires_at": clock.text_of(question.expires_at),
        "approver_email": email.to,
        "link": mint(matter, question, approver_email=email.to, now=now),
    }


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
