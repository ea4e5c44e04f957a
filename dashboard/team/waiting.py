"""From when new owners and approvers can approve payments (decision 0169), as pages say it."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from dashboard.templatetags.ballast import moment
from tenants import actors, new_approvers
from tenants.models import Membership, Role, Tenant


def hours_of_newcomers(tenant: Tenant, *, by: str, now: datetime) -> int | None:
    """How many hours whoever `by` invites as owner or approver waits to approve payments; None:
    they can at once. At most two queries."""
    return _hours(tenant, user_id="", by=by, now=now)


def hours_of_member(member: Membership, *, by: str, now: datetime) -> int | None:
    """How many hours this member would wait, whom `by` makes owner or approver; None: not at all,
    or they are one already. At most two queries."""
    if member.role in new_approvers.APPROVING:
        return None
    return _hours(member.tenant, user_id=member.user_id, by=by, now=now)


def approves_from(member: Membership, *, now: datetime) -> datetime | None:
    """From when an owner or approver can approve payments; None: now."""
    from_then = member.approves_from if member.role in new_approvers.APPROVING else None
    return from_then if from_then is not None and now < from_then else None


def changed_words(member: Membership, *, now: datetime) -> str:
    """What the page says of a new role."""
    said = f"{member.user.get_full_name()} is now {Role(member.role).label.lower()}"
    from_then = approves_from(member, now=now)
    waits = f", and can approve payments from {moment(from_then)}" if from_then else ""
    return f"{said}{waits}."


def _hours(tenant: Tenant, *, user_id: str, by: str, now: datetime) -> int | None:
    waits = new_approvers.approves_from(
        tenant=tenant, user_id=user_id, role=Role.APPROVER, actor=actors.user(by), now=now
    )
    return None if waits is None else settings.NEW_APPROVER_HOURS
