"""Whether somebody is the second person that a proposal of staff needs, and not the first one under
another name (decision 0168)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from tenants.actors import SYSTEM, Actor
from tenants.errors import NotASecondPerson
from tenants.models import StaffPower, User


def require(*, actor: Actor, power: str, proposed_by: str, proposed_at: datetime) -> None:
    """Refuse an approval by `actor` unless account and power (`app.codename`) are older than the
    proposal, and somebody else granted the power. In the transaction that approves: until it ends,
    nobody takes the power away.

    A command line is exempt: it says who was there (0072). Raises NotASecondPerson.
    """
    if actor == SYSTEM:
        return
    _require_member(actor, proposed_at)
    held = [each for each in _powers(actor.id, power) if each.granted_at < proposed_at]
    if not held:
        raise NotASecondPerson("Your role is younger than the proposal.")
    if all(_is_from(each, {actor.id, proposed_by}) for each in held):
        raise NotASecondPerson("Your role came from the one who proposed it.")


def obstacle(*, actor: Actor, power: str, proposed_by: str, proposed_at: datetime) -> str:
    """Why `require` would refuse this approval now; empty where it would not."""
    try:
        with transaction.atomic():
            require(actor=actor, power=power, proposed_by=proposed_by, proposed_at=proposed_at)
    except NotASecondPerson as refusal:
        return refusal.detail
    return ""


def require_role(*, actor: Actor, power: str) -> None:
    """Refuse the first of two approvals by somebody without the power, or by a superuser. Raises
    NotASecondPerson."""
    _require_member(actor, None)
    if not _powers(actor.id, power):
        raise NotASecondPerson("You have no role that may do this.")


def require_unrelated(*, actor: Actor, proposed_by: str) -> None:
    """Refuse two people of whom one had part in giving the other a role that is held now: they may
    be one person with two accounts. Raises NotASecondPerson."""
    if actor != SYSTEM and (_has_from(actor.id, proposed_by) or _has_from(proposed_by, actor.id)):
        raise NotASecondPerson("One of you two gave the other a role, so somebody else approves.")


def unrelated_obstacle(*, actor: Actor, proposed_by: str) -> str:
    """Why `require_unrelated` would refuse these two; empty where it would not."""
    try:
        require_unrelated(actor=actor, proposed_by=proposed_by)
    except NotASecondPerson as refusal:
        return refusal.detail
    return ""


def _require_member(actor: Actor, proposed_at: datetime | None) -> None:
    rows = User.objects.select_for_update(no_key=True)
    person = rows.filter(pk=actor.id, is_active=True, is_staff=True).first()
    if person is None:
        raise NotASecondPerson("You do not work here.")
    if person.is_superuser:
        raise NotASecondPerson("A superuser is for emergencies and approves nothing.")
    if proposed_at is not None and person.created_at >= proposed_at:
        raise NotASecondPerson("Your account is younger than the proposal.")


def _powers(user_id: str, power: str) -> list[StaffPower]:
    """The roles by which the person has this power now."""
    app, _, code = power.partition(".")
    rows = StaffPower.objects.filter(
        user_id=user_id,
        ended_at=None,
        group__user=user_id,
        group__permissions__codename=code,
        group__permissions__content_type__app_label=app,
    )
    return list(rows.order_by("granted_at"))


def _is_from(power: StaffPower, people: set[str]) -> bool:
    """Whether nobody but these people granted it."""
    givers = {power.asked_by_id, power.granted_by_id} - {None}
    return bool(givers) and givers <= people


def _has_from(user_id: str, giver: str) -> bool:
    """Whether the person holds a role that `giver` granted or asked for."""
    gave = Q(asked_by=giver) | Q(granted_by=giver)
    return StaffPower.objects.filter(gave, user_id=user_id, ended_at=None).exists()
