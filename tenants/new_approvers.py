"""Whoever comes to approve waits a day, so that the owners read of it first (decision 0169)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

from tenants import selectors
from tenants.actors import Actor
from tenants.models import ActorType, Membership, Mode, Role, Tenant

APPROVING = (Role.OWNER, Role.APPROVER)


def give_role(membership: Membership, role: Role, *, actor: Actor, now: datetime) -> None:
    """Set the role, and from when it approves. Who approved before goes on; the caller saves."""
    if membership.role not in APPROVING:
        membership.approves_from = approves_from(
            tenant=membership.tenant, user_id=membership.user_id, role=role, actor=actor, now=now
        )
    membership.role = role


def approves_from(
    *, tenant: Tenant, user_id: str, role: str, actor: Actor, now: datetime
) -> datetime | None:
    """When this person, who is new to `role`, may approve what is paid out; None: at once.

    At once in the sandbox, for whom operators name at the command line, and where nobody else
    approves, who could object, or did a short time ago.
    """
    if _is_free(tenant, role, actor):
        return None
    wait = timedelta(hours=settings.NEW_APPROVER_HOURS)
    if selectors.has_others(tenant_id=tenant.pk, roles=APPROVING, user_id=user_id):
        return now + wait
    had_others = selectors.has_demoted(tenant_id=tenant.pk, roles=APPROVING, since=now - wait)
    return now + wait if had_others else None


def begin_anew(membership: Membership, *, actor: Actor, now: datetime) -> None:
    """Let somebody wait as if they came to approve now; the caller saves. Who is alone waits, too:
    meanwhile they pay nothing that a second person would be asked about (decision 0169)."""
    if _is_free(membership.tenant, membership.role, actor):
        return
    anew = now + timedelta(hours=settings.NEW_APPROVER_HOURS)
    membership.approves_from = max(anew, membership.approves_from or anew)


def _is_free(tenant: Tenant, role: str, actor: Actor) -> bool:
    """Whether nobody waits: for a role that approves nothing, in the sandbox, and for whom
    operators name at the command line."""
    is_sandbox = tenant.mode == Mode.SANDBOX
    return role not in APPROVING or is_sandbox or actor.type == ActorType.SYSTEM
