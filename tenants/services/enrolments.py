"""Links by which people set up their first second factor: who sent them is in the audit log."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from tenants import enrolment, second_factor
from tenants.actors import Actor
from tenants.emails import queue_enrolment_link, queue_own_enrolment_link
from tenants.errors import NoEnrolment
from tenants.models import User
from tenants.services import audit, sign_ins


@transaction.atomic
def send(*, user: User, reason: str, actor: Actor, now: datetime) -> None:
    """Mail the link to this person. Raises NoEnrolment for oneself, for people who are not staff,
    and for those who have a second factor."""
    if actor.id == user.pk:
        raise NoEnrolment("Somebody else sends you the link.")
    _note(user, reason, actor, now)
    queue_enrolment_link(user=user, now=now)


@transaction.atomic
def link(*, user: User, reason: str, actor: Actor, now: datetime) -> str:
    """The link itself, for the command line. Raises NoEnrolment as `send` does."""
    _note(user, reason, actor, now)
    return enrolment.link(user)


@transaction.atomic
def send_own(*, user: User, browser: str, address: str, now: datetime) -> None:
    """Mail people the link that they asked for themselves, from the network address `address`. It
    works in the session with the secret `browser` (`enrolment.expect`) only. Raises NoEnrolment for
    who has a second factor, and for staff, to whom somebody else sends it."""
    if enrolment.is_sent_by_colleague(user):
        raise NoEnrolment("Somebody else sends you the link.")
    if second_factor.is_set_up(user_id=user.pk):
        raise NoEnrolment("You have a second factor.")
    sign_ins.account_changed(
        user_id=user.pk, action="second_factor.link_asked_for", kind="link", now=now
    )
    queue_own_enrolment_link(user=user, browser=browser, address=address, now=now)


def _note(user: User, reason: str, actor: Actor, now: datetime) -> None:
    if not (user.is_staff and user.is_active):
        raise NoEnrolment("Only staff need a link to set up a second factor.")
    if second_factor.is_set_up(user_id=user.pk):
        raise NoEnrolment("This person has a second factor.")
    audit.record(
        tenant_id=None,
        actor=actor,
        action="second_factor.link_sent",
        subject_id=user.pk,
        details={"email": user.email, "reason": reason},
        now=now,
    )
