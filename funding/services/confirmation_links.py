"""Magic links: one per mail and approver, made when the mail is sent, kept only as a digest.

A link opens one question, shows it to whoever holds it, and decides in its approver's name. All
links of a question work until it is decided.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime
from typing import Any

from django.conf import settings

from common import clock
from funding.models import Confirmation, ConfirmationLink, Decision
from tenants.models import OutgoingEmail
from tenants.services import emails

REQUEST_MAIL = "confirmation_request"
REMINDER_MAIL = "confirmation_reminder"
_TOKEN_BYTES = 32
_TOKEN = re.compile(r"[0-9A-Za-z_-]{43}")


def mint(*, confirmation: Confirmation, approver_email: str, now: datetime) -> str:
    """The address of a new link: the only moment at which its token exists here."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    ConfirmationLink.objects.create(
        confirmation=confirmation,
        approver_email=approver_email,
        digest=_digest(token),
        created_at=now,
    )
    return f"{settings.BASE_URL}/confirm/{token}/"


def find(token: str) -> ConfirmationLink | None:
    """The link of this token with all that its page shows; one query, none for nonsense."""
    if not _TOKEN.fullmatch(token):
        return None
    links = ConfirmationLink.objects.select_related("confirmation__tenant", "confirmation__source")
    return links.filter(digest=_digest(token)).first()


def queue(confirmation: Confirmation, *, to: list[str], template: str, now: datetime) -> None:
    """Send each of these approvers a mail with a link of their own."""
    for address in to:
        emails.queue(
            tenant_id=confirmation.tenant_id,
            to=address,
            template=template,
            context={"confirmation_id": confirmation.pk},
            now=now,
        )


@emails.builds_context(REQUEST_MAIL)
@emails.builds_context(REMINDER_MAIL)
def _context(email: OutgoingEmail, now: datetime) -> dict[str, Any] | None:
    """What the mail says; None once the question is closed. Each attempt mints a new link."""
    confirmation = (
        Confirmation.objects.select_related("tenant", "source")
        .filter(pk=email.context["confirmation_id"], decision=Decision.OPEN, expires_at__gt=now)
        .first()
    )
    if confirmation is None:
        return None
    return {
        "tenant_name": confirmation.tenant.name,
        "amount": confirmation.amount,
        "bank_name": confirmation.source.bank_name,
        "last4": confirmation.source.last4,
        "reason": confirmation.reason,
        "requested_at": clock.text_of(confirmation.created_at),
        "expires_at": clock.text_of(confirmation.expires_at),
        "approver_email": email.to,
        "link": mint(confirmation=confirmation, approver_email=email.to, now=now),
    }


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
