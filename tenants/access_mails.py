"""E-mails to all owners about who gets in: members, roles and API keys (decision 0169); and the one
to somebody who is in the team no more."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from types import MappingProxyType

from tenants import selectors
from tenants.actors import Actor
from tenants.models import ActorType, ApiKey, Membership, Role
from tenants.services import emails

ACCESS_CHANGED = "access_changed"
MEMBERSHIP_ENDED = "membership_ended"
emails.is_for_others(MEMBERSHIP_ENDED)
_TEAM = "dashboard:team"
_KEYS = "dashboard:api_keys"
_PAYEES = "dashboard:recipients"


def tell_of_member(
    membership: Membership,
    *,
    before: str = "",
    ended: Mapping[str, str] = MappingProxyType({}),
    by: Actor,
    through: str = "",
    now: datetime,
) -> None:
    """Somebody joined, or got another role than `before`, with which this `ended`; `through` this
    connection of single sign-on."""
    person, role = membership.user.email, Role(membership.role).label
    what = f"{person} is now {role}" if before else f"{person} joined as {role}"
    from_when = membership.approves_from
    facts = {"Before": Role(before).label, **ended} if before else {}
    if through:
        facts["Single sign-on"] = through
    _tell(membership.tenant_id, what, facts, _TEAM, by, now, approves_from=from_when)


def tell_of_removal(
    membership: Membership, *, ended: Mapping[str, str], by: Actor, now: datetime
) -> None:
    """Somebody left the team, and this `ended` with it: to the other owners, and to the person, who
    learns no more than that."""
    person = membership.user
    what = f"{person.email} is no longer on the team"
    _tell(membership.tenant_id, what, ended, _TEAM, by, now, without={person.pk})
    if by.type == ActorType.SYSTEM:
        return
    emails.queue(
        tenant_id=membership.tenant_id,
        to=person.email,
        template=MEMBERSHIP_ENDED,
        context={
            "tenant_name": selectors.tenant(membership.tenant_id).name,
            "at": now.isoformat(),
            "own": by.id == person.pk,
            "email": person.email,
        },
        now=now,
    )


def tell_of_closing(
    membership: Membership, *, ended: Mapping[str, str], by: Actor, now: datetime
) -> None:
    """Our support closed the account of a member, who opens nothing any more, and this `ended`."""
    person = membership.user
    what = f"The account of {person.email} was closed"
    _tell(membership.tenant_id, what, ended, _TEAM, by, now, without={person.pk})


def tell_of_second_factor(tenant_id: str, *, required: bool, by: Actor, now: datetime) -> None:
    """Everybody now needs a second factor from now on, or no longer."""
    what = (
        "Everybody now needs a second factor"
        if required
        else "A second factor is no longer required"
    )
    _tell(tenant_id, what, {}, _TEAM, by, now)


def tell_of_new_start(
    membership: Membership, *, what: str, by: Actor, is_told: bool, now: datetime
) -> None:
    """A member came back in a way that a mailbox or our support alone opens. `is_told` says that
    another mail tells them when they approve again."""
    _tell(
        membership.tenant_id,
        what,
        {},
        _TEAM,
        by,
        now,
        approves_from=membership.approves_from,
        without={membership.user_id} if is_told else (),
    )


def tell_of_key(key: ApiKey, *, is_rotation: bool, by: Actor, now: datetime) -> None:
    """A key was made, from nothing or in the place of another one."""
    what = f"API key {key.name} was {'rotated' if is_rotation else 'created'}"
    facts = {"Begins with": key.prefix, "Permissions": ", ".join(key.scopes)}
    _tell(key.tenant_id, what, facts, _KEYS, by, now)


def tell_of_recipient(tenant_id: str, *, name: str, account: str, by: Actor, now: datetime) -> None:
    """An account that can be paid was added by somebody whose payments nobody else approves."""
    _tell(tenant_id, f"Recipient {name} was added", {"Account": account}, _PAYEES, by, now)


def tell_of_loosening(key: ApiKey, *, by: Actor, now: datetime) -> None:
    """The switch of a key was turned: whether it may loosen auto-funding."""
    may = "can" if key.may_loosen_auto_funding else "can no longer"
    what = f"API key {key.name} {may} loosen auto-funding"
    _tell(key.tenant_id, what, {"Begins with": key.prefix}, _KEYS, by, now)


def _tell(
    tenant_id: str,
    what: str,
    facts: Mapping[str, str],
    page: str,
    by: Actor,
    now: datetime,
    *,
    approves_from: datetime | None = None,
    without: Collection[str] = (),
) -> None:
    """Mail every owner, but for the people of the ids in `without`. What operators do at the
    command line is in the audit log alone."""
    if by.type == ActorType.SYSTEM:
        return
    owners = selectors.member_emails(tenant_id=tenant_id, roles=(Role.OWNER,), without=without)
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
