"""E-mails to those who work for us: what one person can do in an emergency is told to everybody who
looks after people and powers, and work that is late to those who can do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from common import days
from common.engine import sql
from tenants import selectors
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, User
from tenants.services import audit, emails

MAIL = "staff_alarm"
WORK_MAIL = "work_alarm"
# Whoever may change people is told of it, the person who did it too.
_TOLD = "tenants.change_user"
_SHOWN_FOR = timedelta(days=1)

_ONE_AFTER_THE_OTHER = "SELECT pg_advisory_xact_lock(hashtextextended(%(work)s, 0))"

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


@dataclass(frozen=True, kw_only=True)
class LateWork:
    """Work that should be done by now. `power` (`app.codename`) is what it takes to do it, `page`
    the name of the address where it is done. `action`, `subject_id` and `details` are its line in
    the audit log."""

    what: str
    facts: Sequence[tuple[str, str]]
    power: str
    page: str
    action: str
    subject_id: str
    details: Mapping[str, object] = field(default_factory=dict)


@transaction.atomic
def tell_daily(work: LateWork, *, now: datetime) -> bool:
    """E-mail late work to those who can do it, unless they were told today; returns whether it did.

    The audit log says when they were. Of two workers at the same moment one waits for the other.
    """
    sql.rows(_ONE_AFTER_THE_OTHER, {"work": f"{work.action} {work.subject_id}"})
    told = AuditEvent.objects.filter(subject_id=work.subject_id, action=work.action)
    if told.filter(created_at__gte=days.start_of(days.day_of(now))).exists():
        return False
    addresses = selectors.staff_emails(power=work.power)
    for address in addresses:
        context = {
            "what": work.what,
            "facts": list(work.facts),
            "page": work.page,
            "at": now.isoformat(),
            "email": address,
        }
        emails.queue(tenant_id=None, to=address, template=WORK_MAIL, context=context, now=now)
    audit.record(
        tenant_id=None,
        actor=SYSTEM,
        action=work.action,
        subject_id=work.subject_id,
        details={**work.details, "people": len(addresses)},
        now=now,
    )
    return True


def superusers_seen(*, now: datetime) -> int:
    """How many superusers signed in during the last day. One indexed query."""
    return User.objects.filter(is_superuser=True, last_login__gt=now - _SHOWN_FOR).count()
