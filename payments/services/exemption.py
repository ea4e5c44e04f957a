"""Who pays without a second person, because nobody else could answer (decisions 0072 and 0184).

It depends on who pays, not on how many people could be asked: an owner with no other owner or
approver is asked about nothing that they pay themselves or by an API key that nobody else
was ever behind. What a member pays, or a key of somebody else or of operators, is asked of that
owner; so is what a key pays that they took over, because it may be in its former owner's hands.

Who came back by a mailbox or by our support a short time ago is alone, and not exempt: nobody could
be asked, so what would need a second person is refused until then (decision 0169).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from common import clock, days
from payments.errors import PayerIsNew
from tenants import persons
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.new_approvers import APPROVING

# For how long an owner whose others were removed is not alone yet.
_ALONE_AFTER = timedelta(hours=24)


def is_exempt(*, tenant_id: str, actor: Actor, now: datetime) -> bool:
    """Whether this actor pays without a second person. Four queries at most, one more for a key."""
    person = _alone(tenant_id, actor, now)
    return person is not None and _new_until(tenant_id, person, now) is None


def is_alone(*, tenant_id: str, actor: Actor, now: datetime) -> bool:
    """Whether nobody is asked about what this actor pays: they are exempt, or refused for a day.
    Three queries at most, one more for a key."""
    return _alone(tenant_id, actor, now) is not None


def refuse_new(*, tenant_id: str, actor: Actor, now: datetime) -> None:
    """Refuse what a second person would be asked about to who is alone and came back a short time
    ago. Raises PayerIsNew."""
    person = _alone(tenant_id, actor, now)
    until = _new_until(tenant_id, person, now) if person else None
    if until is not None:
        raise PayerIsNew(
            "The owner chose a password by e-mail, or had the account opened again, a short time"
            f" ago. This payment is possible from {days.words(until)} on.",
            possible_from=clock.text_of(until),
        )


def _alone(tenant_id: str, actor: Actor, now: datetime) -> str | None:
    """The owner with nobody beside them who is behind this actor."""
    person = persons.only_holder(actor)
    is_lone = person is not None and is_lone_owner(tenant_id=tenant_id, person=person, now=now)
    return person if is_lone else None


def is_lone_owner(*, tenant_id: str, person: str, now: datetime) -> bool:
    """Whether this owner has nobody beside them who could be asked, and had nobody until a short
    time ago (decision 0072). Three queries at most."""
    return tenants.is_lone_owner(
        tenant_id=tenant_id, user_id=person, roles=APPROVING, since=now - _ALONE_AFTER
    )


def _new_until(tenant_id: str, person: str, now: datetime) -> datetime | None:
    until = tenants.approves_from(tenant_id=tenant_id, user_id=person)
    return until if until is not None and now < until else None
