"""Tenants and their people."""

from __future__ import annotations

from datetime import datetime

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction

from tenants import new_approvers, selectors
from tenants.actors import Actor
from tenants.emails import queue_address_notices, queue_password_reset
from tenants.errors import AddressTaken
from tenants.models import Membership, Mode, Role, Tenant, TenantStatus, User
from tenants.services import audit, leaving, names, sessions, sign_ins
from tenants.signals import Leaving, tenant_released


@transaction.atomic
def create_tenant(*, name: str, mode: Mode, actor: Actor, now: datetime) -> Tenant:
    """Create a tenant. Its mode never changes: sandbox and live money do not mix.

    Raises InvalidName.
    """
    tenant = Tenant.objects.create(name=names.checked(name), mode=mode)
    audit.record(
        tenant_id=tenant.pk,
        actor=actor,
        action="tenant.created",
        subject_id=tenant.pk,
        details={"name": tenant.name, "mode": str(mode)},
        now=now,
    )
    return tenant


@transaction.atomic
def rename(*, tenant_id: str, name: str, actor: Actor, now: datetime) -> None:
    """Rename a tenant. Raises InvalidName."""
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    before, tenant.name = tenant.name, names.checked(name)
    if tenant.name == before:
        return
    tenant.save(update_fields=["name"])
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="tenant.renamed",
        subject_id=tenant_id,
        details={"name": tenant.name, "before": before},
        now=now,
    )


@transaction.atomic
def rename_person(*, user_id: str, name: str, now: datetime) -> None:
    """Change the name by which others see this person. Raises InvalidName."""
    people = User.objects.select_for_update(no_key=True).defer("password")
    user = people.get(pk=user_id)
    before, user.name = user.name, names.checked(name)
    if user.name == before:
        return
    user.save(update_fields=["name"])
    sign_ins.account_changed(user_id=user_id, action="user.renamed", kind=user.name, now=now)


@transaction.atomic
def rename_by_support(*, user_id: str, name: str, actor: Actor, now: datetime) -> None:
    """Change the name by which others see this person; each of their tenants reads it in its audit
    log. An empty name leaves the person their address alone. Raises InvalidName."""
    people = User.objects.select_for_update(no_key=True).defer("password")
    user = people.get(pk=user_id)
    before, user.name = user.name, names.checked(name) if name else ""
    if user.name == before:
        return
    user.save(update_fields=["name"])
    sign_ins.renamed_by_support(
        user_id=user_id, before=before, after=user.name, actor=actor, now=now
    )


@transaction.atomic
def send_reset_link(*, user_id: str, actor: Actor, now: datetime, note: str = "") -> None:
    """Mail a link to choose a password to the person's own address; each of their tenants reads it
    in its audit log. `note` is for staff."""
    user = User.objects.defer("password").get(pk=user_id)
    sign_ins.reset_link_sent_by_support(user_id=user_id, actor=actor, note=note, now=now)
    queue_password_reset(user=user, now=now)


@transaction.atomic
def change_address(*, user_id: str, email: str, actor: Actor, now: datetime) -> None:
    """Give a person another address: e-mail both, write it into the audit log of each of their
    tenants, end every session. The old address opens nothing any more. Raises AddressTaken."""
    people = User.objects.select_for_update(no_key=True).defer("password")
    user = people.get(pk=user_id)
    before, user.email = user.email, email.lower()
    if User.objects.filter(email=user.email).exclude(pk=user_id).exists():
        raise AddressTaken(f"Somebody else has the address {user.email}.")
    user.save(update_fields=["email"])
    EmailAddress.objects.filter(user_id=user_id).delete()  # allauth's copies, made on the way
    sessions.end_all(user_id=user_id)
    sign_ins.address_set_by_support(
        user_id=user_id, before=before, after=user.email, actor=actor, now=now
    )
    queue_address_notices(before=before, after=user.email, now=now)


def suspend(*, tenant_id: str, actor: Actor, now: datetime, reason: str = "") -> bool:
    """Stop everything the tenant's keys and people can do. Returns False if it was suspended
    already."""
    return _set_status(tenant_id, TenantStatus.SUSPENDED, "tenant.suspended", actor, now, reason)


@transaction.atomic
def release(*, tenant_id: str, actor: Actor, now: datetime, reason: str = "") -> bool:
    """Lift a suspension. Returns False if there was none."""
    if not _set_status(tenant_id, TenantStatus.ACTIVE, "tenant.released", actor, now, reason):
        return False
    tenant_released.send(sender=None, tenant_id=tenant_id, now=now)
    return True


@transaction.atomic
def _set_status(
    tenant_id: str, status: TenantStatus, action: str, actor: Actor, now: datetime, reason: str
) -> bool:
    changed = Tenant.objects.filter(pk=tenant_id).exclude(status=status).update(status=status)
    if changed:
        audit.record(
            tenant_id=tenant_id,
            actor=actor,
            action=action,
            subject_id=tenant_id,
            staff_note=reason,
            now=now,
        )
    return bool(changed)


@transaction.atomic
def create_member(
    *, tenant_id: str, email: str, role: Role, password: str | None, actor: Actor, now: datetime
) -> Membership:
    """Give a person a role in the tenant; create the person if the address is new.

    An existing person keeps their password: only they may change it. If the person had the role
    already, nobody is told. What a member did as an owner ends with another role than owner, as
    at a removal (`leaving`). Raises LastOwner.
    """
    user = _person(email, password)
    unchanged = Membership.objects.filter(tenant_id=tenant_id, user=user, role=role).first()
    if unchanged is not None:
        return unchanged
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    known = Membership.objects.filter(tenant=tenant, user=user).first()
    membership = known or Membership(tenant=tenant, user=user)
    former = {"before": known.role} if known else {}
    if known and role != Role.OWNER:
        leaving.require_other_owner(known)
        leaving.settle(known, Leaving.DEMOTED, actor=actor, now=now)
    new_approvers.give_role(membership, role, actor=actor, now=now)
    membership.save()
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action=selectors.ROLE_CHANGED if known else "member.added",
        subject_id=user.pk,
        details={"email": user.email, "role": str(role), **former},
        now=now,
    )
    return membership


def _person(email: str, password: str | None) -> User:
    """The person with this address. Of two requests at once, one creates it."""
    known = User.objects.filter(email=email.lower())
    if user := known.first():
        return user
    try:
        with transaction.atomic():
            return User.objects.create_user(email=email, password=password)
    except IntegrityError:
        return known.get()
