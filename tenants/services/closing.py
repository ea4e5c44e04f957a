"""Accounts that our support closes and opens again, and people who come back by their mailbox.

One member of staff closes an account at once, because somebody else may be using it. So that nobody
is made alone by it who then pays without a second person, it counts as a removal for a day, and who
comes back approves like somebody new (decision 0169).
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common.database.job_doors import by
from common.database.jobs import DESK
from tenants import access_mails, new_approvers, second_factor
from tenants.actors import Actor
from tenants.actors import user as person
from tenants.emails import queue_account_notice
from tenants.errors import AccessRefused
from tenants.models import Membership, Tenant, User
from tenants.services import leaving, members, sessions, sign_ins
from tenants.signals import Leaving

_BY_SUPPORT = "our support"


@by(DESK)
@transaction.atomic
def close(*, user_id: str, actor: Actor, now: datetime, note: str = "") -> bool:
    """The person signs in no more, and is signed out. What they did as an owner ends, as at a
    removal (`leaving`); no owner is there to take keys over. An approval of theirs is stored before
    this returns, or refused. The owners of their tenants and the person are mailed. False if it was
    so already. Raises AccessRefused for a colleague."""
    user = _locked(user_id)
    if not user.is_active:
        return False
    for membership in _memberships(user_id):
        Tenant.objects.select_for_update(no_key=True).get(pk=membership.tenant_id)
        ended = leaving.settle(membership, Leaving.CLOSED, actor=actor, now=now)
        members.hold(tenant_id=membership.tenant_id, email=user.email)
        access_mails.tell_of_closing(membership, ended=ended.facts, by=actor, now=now)
    user.is_active = False
    user.save(update_fields=["is_active"])
    sessions.end_all(user_id=user_id)
    sign_ins.closed_by_support(user_id=user_id, actor=actor, note=note, now=now)
    queue_account_notice(user=user, change="account_closed", address=_BY_SUPPORT, now=now)
    return True


@by(DESK)
@transaction.atomic
def reopen(*, user_id: str, actor: Actor, now: datetime, note: str = "") -> bool:
    """The person may sign in again, and approves what is paid out after a day. Both the owners and
    the person are mailed. False if the account is open. Raises AccessRefused for a colleague."""
    user = _locked(user_id)
    if user.is_active:
        return False
    user.is_active = True
    user.save(update_fields=["is_active"])
    sign_ins.reopened_by_support(user_id=user_id, actor=actor, note=note, now=now)
    begin_anew(user_id, f"The account of {user.email} was opened again", actor, now)
    queue_account_notice(user=user, change="account_reopened", address=_BY_SUPPORT, now=now)
    return True


@transaction.atomic
def password_reset(*, user_id: str, now: datetime) -> None:
    """A person chose a password by a link of an e-mail. Who has no second factor has shown nothing
    but a mailbox, which releases no money: they approve after a day, as the notice of the new
    password tells them."""
    if second_factor.is_set_up(user_id=user_id):
        return
    email = User.objects.values_list("email", flat=True).get(pk=user_id)
    begin_anew(
        user_id, f"{email} chose a new password by e-mail", person(user_id), now, is_told=True
    )


def begin_anew(
    user_id: str, what: str, actor: Actor, now: datetime, *, is_told: bool = False
) -> None:
    """In every tenant of theirs the person approves after a day, as somebody new does, and the
    owners are mailed `what` happened; the person as well, unless `is_told` of it otherwise."""
    for membership in _memberships(user_id):
        Tenant.objects.select_for_update(no_key=True).get(pk=membership.tenant_id)
        new_approvers.begin_anew(membership, actor=actor, now=now)
        membership.save(update_fields=["approves_from"])
        access_mails.tell_of_new_start(membership, what=what, by=actor, is_told=is_told, now=now)


def _memberships(user_id: str) -> list[Membership]:
    """In the order in which their tenants are locked."""
    rows = Membership.objects.filter(user_id=user_id).order_by("tenant_id")
    return list(rows.select_related("tenant", "user").defer("user__password"))


def _locked(user_id: str) -> User:
    people = User.objects.select_for_update(no_key=True).defer("password")
    user = people.get(pk=user_id)
    if user.is_staff or user.is_superuser:
        raise AccessRefused("This is a colleague: end their roles instead.")
    return user
