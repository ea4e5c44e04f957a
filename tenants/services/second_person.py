"""Whether somebody is the second person that a proposal of staff needs, and not the first one under
another name (decision 0168)."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from tenants.actors import SYSTEM, Actor
from tenants.errors import NotASecondPerson, ProposerLeft
from tenants.models import StaffPower, User


def require(
    *, actor: Actor, power: str, proposed_by: str, proposed_at: datetime, proposes: str = ""
) -> None:
    """Refuse an approval by `actor` unless account and power (`app.codename`) are older than the
    proposal, and somebody else granted the power; and unless whoever proposed it works for us
    still, with the power `proposes`, where one is named (decision 0192). In the transaction that
    approves: until it ends, nobody takes these powers away.

    A command line is exempt: it says who was there (0072). Raises NotASecondPerson, ProposerLeft.
    """
    if actor == SYSTEM:
        return
    _lock({actor.id, proposed_by})
    _judge(actor, power, proposed_by, proposed_at, proposes)


def _judge(
    actor: Actor, power: str, proposed_by: str, proposed_at: datetime, proposes: str
) -> None:
    """What `require` refuses, as the rows stand. Locks none, so that pages may ask it."""
    _require_member(actor, proposed_at)
    require_proposer(proposed_by=proposed_by, power=proposes)
    held = [each for each in _powers(actor.id, power) if each.granted_at < proposed_at]
    if not held:
        raise NotASecondPerson("Your role is younger than the proposal.")
    if all(_is_from(each, {actor.id, proposed_by}) for each in held):
        raise NotASecondPerson("Your role came from the one who proposed it.")


def require_proposer(*, proposed_by: str, power: str = "") -> None:
    """Refuse what somebody proposed who works for us no more, or lost the power to propose it.
    What an operator proposed at a command line has no account. Raises ProposerLeft."""
    person = User.objects.filter(pk=proposed_by).defer("password").first()
    if person is None:
        return
    if not (person.is_active and person.is_staff):
        raise ProposerLeft("Whoever proposed it does not work here any more.")
    if power and not person.is_superuser and not _powers(proposed_by, power):
        raise ProposerLeft("Whoever proposed it has no role any more that may propose it.")


def proposer_obstacle(*, proposed_by: str, power: str) -> str:
    """Why `require_proposer` would refuse this; empty where it would not."""
    try:
        require_proposer(proposed_by=proposed_by, power=power)
    except ProposerLeft as refusal:
        return f"{refusal.detail} {refusal.advice}"
    return ""


def obstacle(
    *, actor: Actor, power: str, proposed_by: str, proposed_at: datetime, proposes: str = ""
) -> str:
    """Why `require` would refuse this approval by somebody at the desk now; empty where it would
    not. For pages: it locks no row."""
    try:
        _judge(actor, power, proposed_by, proposed_at, proposes)
    except NotASecondPerson as refusal:
        return refusal.detail
    return ""


def require_role(*, actor: Actor, power: str) -> None:
    """Refuse the first of two approvals by somebody without the power, or by a superuser. Raises
    NotASecondPerson."""
    _lock({actor.id})
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


def _lock(people: set[str]) -> None:
    """In the order of their ids, so that two who approve each other's proposals do not wait in a
    circle."""
    rows = User.objects.filter(pk__in=people).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk"))


def _require_member(actor: Actor, proposed_at: datetime | None) -> None:
    rows = User.objects.filter(pk=actor.id, is_active=True, is_staff=True)
    person = rows.defer("password").first()
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
