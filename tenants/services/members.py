"""The people of a tenant: their roles, their leaving, and whether they need a second factor."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from common.errors import NotFound
from common.ids import is_id
from tenants import access_mails, new_approvers, second_factor, selectors
from tenants.actors import Actor
from tenants.errors import OwnSecondFactorMissing
from tenants.models import ActorType, Membership, Role, Tenant
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
    new_approvers.give_role(membership, role, actor=actor, now=now)
    access_mails.tell_of_member(
        membership, before=before, ended=ended.facts if ended else {}, by=actor, now=now
    )
    membership.save(update_fields=["role", "approves_from"])
    _audit(membership, selectors.ROLE_CHANGED, actor, now, {"role": str(role), "before": before})
    return membership


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
