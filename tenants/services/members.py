"""The people of a tenant: their roles, their leaving, and whether they need a second factor."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from common.errors import NotFound
from common.ids import is_id
from tenants import access_mails, actors, new_approvers, second_factor, selectors
from tenants.actors import SYSTEM, Actor
from tenants.errors import NotAMember, OwnSecondFactorMissing
from tenants.models import ActorType, Membership, Role, Tenant, User
from tenants.services import audit, leaving
from tenants.services.leaving import Ended
from tenants.signals import Leaving


@transaction.atomic
def change_role(
    *,
    tenant_id: str,
    membership_id: str,
    role: Role,
    actor: Actor,
    now: datetime,
    take_over: Collection[str] = (),
    cancel: Collection[str] = (),
) -> Membership:
    """Give a member another role. Who is no owner then has what they did as one ended, as at a
    removal (`leaving`). Raises NotFound, LastOwner, NotAnOwner."""
    membership = _locked(tenant_id, membership_id, actor)
    if membership.role == role:
        return membership
    leaving.require_other_owner(membership)
    return _give_role(
        membership, role, giver=actor, actor=actor, now=now, take_over=take_over, cancel=cancel
    )


@transaction.atomic
def remove(
    *,
    tenant_id: str,
    membership_id: str,
    actor: Actor,
    now: datetime,
    take_over: Collection[str] = (),
    cancel: Collection[str] = (),
) -> Ended:
    """End a membership; the person keeps the account. The API keys that the person is behind are
    revoked, but for those of the ids in `take_over`: the actor is behind them from now on. Payments
    of theirs that are not sent yet wait for a second person, and those of the ids in `cancel` are
    canceled. What else the person did as an owner ends, too (`leaving`).

    Raises NotFound, LastOwner, NotAnOwner.
    """
    membership = _locked(tenant_id, membership_id, actor)
    leaving.require_other_owner(membership)
    ended = leaving.settle(
        membership,
        Leaving.REMOVED,
        taken_over=take_over,
        canceled=cancel,
        actor=actor,
        now=now,
    )
    _audit(membership, selectors.REMOVED, actor, now, {"role": membership.role})
    access_mails.tell_of_removal(membership, ended=ended.facts, by=actor, now=now)
    Membership.objects.filter(pk=membership.pk).delete()
    return ended


@transaction.atomic
def follow_provider(
    *, tenant_id: str, user: User, role: Role | None, connection: str, now: datetime
) -> Membership:
    """Give the person the role that their provider of single sign-on says; None: it says nothing
    about roles. An owner stays one, and nobody becomes one here; who approves from now on waits as
    others do (`new_approvers`).

    Raises NotAMember for somebody who is no member, where the provider says no role or who was
    removed: what owners decided, no provider takes back.
    """
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    known = Membership.objects.filter(tenant=tenant, user=user).select_related("tenant", "user")
    membership = known.defer("user__password").first()
    if membership is None:
        return _join(tenant, user, role, connection, now)
    if role is None or membership.role in (role, Role.OWNER):
        return membership
    return _give_role(
        membership, role, giver=actors.user(user.pk), actor=SYSTEM, now=now, through=connection
    )


def _join(
    tenant: Tenant, user: User, role: Role | None, connection: str, now: datetime
) -> Membership:
    """A new member, in the caller's transaction, which has locked the tenant. Raises NotAMember."""
    if role is None or selectors.has_left(tenant_id=tenant.pk, email=user.email):
        raise NotAMember(f"Ask an owner of {tenant.name} to invite you.")
    membership = Membership(tenant=tenant, user=user)
    new_approvers.give_role(membership, role, actor=actors.user(user.pk), now=now)
    membership.save()
    details = {"role": str(role), **_named(connection)}
    _audit(membership, "member.added", SYSTEM, now, details)
    access_mails.tell_of_member(membership, by=actors.user(user.pk), through=connection, now=now)
    return membership


def hold(*, tenant_id: str, email: str) -> None:
    """Until the caller's transaction ends, nobody removes the member with this address, changes the
    role or closes the account; who is removed before is not held. One query.

    An approval holds its payment or funding before, and its approver by this; a removal and a
    closing lock what the person ordered before, too.
    """
    rows = Membership.objects.filter(tenant_id=tenant_id, user__email=email.lower())
    list(rows.select_for_update(of=("self",), no_key=True).values_list("pk"))


@transaction.atomic
def require_second_factor(*, tenant_id: str, required: bool, actor: Actor, now: datetime) -> None:
    """Ask every member for a second factor, or stop asking. Safe to repeat.

    Raises OwnSecondFactorMissing, so that nobody locks themselves out, and NotAnOwner.
    """
    _lock_as_owner(tenant_id, actor)
    if required and not second_factor.is_set_up(user_id=actor.id):
        raise OwnSecondFactorMissing("Set up your own passkey or authenticator app first.")
    changed = (
        Tenant.objects.filter(pk=tenant_id)
        .exclude(requires_second_factor=required)
        .update(requires_second_factor=required)
    )
    if changed:
        audit.record(
            tenant_id=tenant_id,
            actor=actor,
            action="second_factor.required" if required else "second_factor.made_optional",
            subject_id=tenant_id,
            now=now,
        )
        access_mails.tell_of_second_factor(tenant_id, required=required, by=actor, now=now)


def _give_role(
    membership: Membership,
    role: Role,
    *,
    giver: Actor,
    actor: Actor,
    now: datetime,
    take_over: Collection[str] = (),
    cancel: Collection[str] = (),
    through: str = "",
) -> Membership:
    """Another role for a member, in the caller's transaction, which has locked the tenant.
    `through` names the connection of single sign-on that said so."""
    before, ended = membership.role, None
    if role != Role.OWNER:
        ended = leaving.settle(
            membership,
            Leaving.DEMOTED,
            taken_over=take_over,
            canceled=cancel,
            actor=actor,
            now=now,
        )
    new_approvers.give_role(membership, role, actor=giver, now=now)
    access_mails.tell_of_member(
        membership,
        before=before,
        ended=ended.facts if ended else {},
        by=giver,
        through=through,
        now=now,
    )
    membership.save(update_fields=["role", "approves_from"])
    details = {"role": str(role), "before": before, **_named(through)}
    _audit(membership, selectors.ROLE_CHANGED, actor, now, details)
    return membership


def _named(connection: str) -> dict[str, object]:
    return {"connection": connection} if connection else {}


def _locked(tenant_id: str, membership_id: str, actor: Actor) -> Membership:
    """One membership, with the tenant locked, so that owners are counted one change after the
    other."""
    _lock_as_owner(tenant_id, actor)
    rows = Membership.objects.filter(tenant_id=tenant_id).select_related("user", "tenant")
    shown = rows.defer("user__password")
    row = is_id(membership_id, "mem") and shown.filter(pk=membership_id).first()
    if not row:
        raise NotFound("There is no such member.")
    return row


def _lock_as_owner(tenant_id: str, actor: Actor) -> None:
    """Lock the tenant. A member who changes something is an owner still: of two who remove each
    other, one does. Raises NotAnOwner."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    if actor.type == ActorType.USER:
        selectors.require_owner(tenant_id=tenant_id, user_id=actor.id)


def _audit(
    membership: Membership, action: str, actor: Actor, now: datetime, details: dict[str, object]
) -> None:
    audit.record(
        tenant_id=membership.tenant_id,
        actor=actor,
        action=action,
        subject_id=membership.user_id,
        details={"email": membership.user.email, **details},
        now=now,
    )
