"""E-mails to all owners about who gets in: members, roles and API keys (decision 0169)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from tenants import selectors
from tenants.actors import Actor
from tenants.models import ActorType, ApiKey, Membership, Role
from tenants.services import emails

ACCESS_CHANGED = "access_changed"
_TEAM = "dashboard:team"
_KEYS = "dashboard:api_keys"


def tell_of_member(membership: Membership, *, before: str = "", by: Actor, now: datetime) -> None:
    """Somebody joined, or got another role than `before`."""
    person, role = membership.user.email, Role(membership.role).label
    what = f"{person} is {role} now" if before else f"{person} joined as {role}"
    from_when = membership.approves_from
    facts = {"Before": Role(before).label} if before else {}
    _tell(membership.tenant_id, what, facts, _TEAM, by, now, approves_from=from_when)


def tell_of_removal(
    membership: Membership, *, taken_over: int, revoked: int, by: Actor, now: datetime
) -> None:
    """Somebody left the team, and so many of their API keys were taken over or revoked."""
    what = f"{membership.user.email} is no longer in the team"
    counts = {"Keys taken over": taken_over, "Keys revoked": revoked}
    facts = {label: str(count) for label, count in counts.items() if count}
    _tell(membership.tenant_id, what, facts, _TEAM, by, now)


def tell_of_closing(membership: Membership, *, by: Actor, now: datetime) -> None:
    """Our support closed the account of a member, who opens nothing any more."""
    what = f"The account of {membership.user.email} was closed"
    _tell(membership.tenant_id, what, {}, _TEAM, by, now)


def tell_of_new_start(membership: Membership, *, what: str, by: Actor, now: datetime) -> None:
    """A member came back in a way that a mailbox or our support alone opens."""
    from_when = membership.approves_from
    _tell(membership.tenant_id, what, {}, _TEAM, by, now, approves_from=from_when)


def tell_of_key(key: ApiKey, *, is_rotation: bool, by: Actor, now: datetime) -> None:
    """A key was made, from nothing or in the place of another one."""
    what = f"API key {key.name} was {'rotated' if is_rotation else 'created'}"
    facts = {"Begins with": key.prefix, "May": ", ".join(key.scopes)}
    _tell(key.tenant_id, what, facts, _KEYS, by, now)


def _tell(
    tenant_id: str,
    what: str,
    facts: Mapping[str, str],
    page: str,
    by: Actor,
    now: datetime,
    *,
    approves_from: datetime | None = None,
) -> None:
    """Mail every owner. What operators do at the command line is in the audit log alone."""
    if by.type == ActorType.SYSTEM:
        return
    owners = selectors.member_emails(tenant_id=tenant_id, roles=(Role.OWNER,))
    if not owners:
        return
    context = {
        "tenant_name": selectors.tenant(tenant_id).name,
        "what": what,
        "facts": [{"label": label, "value": value} for label, value in facts.items()],
        "by": selectors.name_of(by),
        "at": now.isoformat(),
        "approves_from": approves_from.isoformat() if approves_from else None,
        "page": page,
    }
    for owner in owners:
        emails.queue(
            tenant_id=tenant_id,
            to=owner,
            template=ACCESS_CHANGED,
            context={**context, "email": owner},
            now=now,
        )
