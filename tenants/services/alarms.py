"""What one person can do in an emergency is told to everybody who looks after people and powers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog

from tenants import selectors
from tenants.models import User
from tenants.services import emails

MAIL = "staff_alarm"
# Whoever may change people is told of it, the person who did it too.
_TOLD = "tenants.change_user"
_SHOWN_FOR = timedelta(days=1)

log = structlog.get_logger(__name__)


def superuser_signed_in(user: User, *, now: datetime) -> None:
    """In the transaction of the sign-in."""
    log.error("superuser_signed_in", user_id=user.pk)
    tell("A superuser signed in", [("Who", user.email)], now=now)


def tell(what: str, facts: Sequence[tuple[str, str]], *, now: datetime) -> None:
    """E-mail an alarm, in the caller's transaction."""
    for address in selectors.staff_emails(power=_TOLD):
        context = {"what": what, "facts": list(facts), "at": now.isoformat(), "email": address}
        emails.queue(tenant_id=None, to=address, template=MAIL, context=context, now=now)


def superusers_seen(*, now: datetime) -> int:
    """How many superusers signed in during the last day. One indexed query."""
    return User.objects.filter(is_superuser=True, last_login__gt=now - _SHOWN_FOR).count()
