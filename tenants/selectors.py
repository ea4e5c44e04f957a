"""Reads about tenants, people and keys."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import CharField, OuterRef, Q, QuerySet

from common import brand
from common.engine import sql
from common.engine.compiled_rows import Rows
from common.errors import NotFound
from common.ids import is_id
from tenants import key_text
from tenants.actors import Actor
from tenants.errors import NotAnOwner
from tenants.models import (
    ActorType,
    ApiKey,
    AuditEvent,
    Invitation,
    Membership,
    Role,
    Tenant,
    User,
)
from tenants.notices import Notice
from tenants.switches import read_only

# Compared with if the prefix is unknown, so that both refusals take equally long.
SEARCHED_MAX = 5_000  # names that one search reads
_NO_DIGEST = "0" * 64
_SUPPORT = "Support"

CLOSED_BY_SUPPORT = "account.closed_by_support"
ADDRESS_SET = "address.set_by_support"
REMOVED = "member.removed"
ROLE_CHANGED = "member.role_changed"
# Which of their details names the role that the person had until then.
_FORMER_ROLE = {REMOVED: "role", ROLE_CHANGED: "before", CLOSED_BY_SUPPORT: "role"}

# Of whoever may not read the hash.
_IS_SET = "SELECT is_set FROM tenants_has_password(%(person)s)"
# A function of the owner's, because no tenant is known yet.
_KEY_HOLDER = "SELECT * FROM tenants_find_key(%(prefix)s) WHERE digest IS NOT NULL"
# More of them: a tenant's rows name people who are its members no more, or never were.
_NAMES = "SELECT id, email, is_staff FROM tenants_name_people(%(ids)s)"
_PERSON = "SELECT id FROM tenants_find_person(%(address)s, %(tenant_id)s)"


@dataclass(frozen=True)
class KeyHolder:
    """What a request needs to know of its key and tenant, read in one query."""

    scopes: frozenset[str]
    allowed_networks: tuple[str, ...]
    key_id: str
    tenant_id: str
    mode: str
    is_suspended: bool
    is_read_only: bool
    reads_per_second: int | None
    writes_per_second: int | None
    last_used_at: datetime | None


def find_key_holder(*, text: str, now: datetime) -> KeyHolder | None:
    """The holder of this key; None if it is unknown, expired or revoked. One indexed query."""
    if not key_text.is_wellformed(text):
        return None
    row = sql.first(_KEY_HOLDER, {"prefix": key_text.prefix_of(text)})
    known_digest = row[0] if row else _NO_DIGEST
    if not hmac.compare_digest(known_digest, key_text.digest_of(text)) or row is None:
        return None
    _, revoked_at, expires_at, scopes, networks, *columns = row
    if revoked_at is not None or (expires_at is not None and expires_at <= now):
        return None
    return KeyHolder(frozenset(scopes), tuple(networks), *columns)


def tenant(tenant_id: str) -> Tenant:
    """Raises Tenant.DoesNotExist."""
    return Tenant.objects.get(pk=tenant_id)


def person(*, email: str) -> User | None:
    """The active person with this address, however it is capitalized."""
    return User.objects.filter(email=email.lower(), is_active=True).first()


def has_password(*, user_id: str) -> bool:
    """Whether the person chose a password. One query, which reads no hash."""
    row = sql.first(_IS_SET, {"person": user_id})
    return row is not None and bool(row[0])


def found_tenant(tenant_id: str) -> Tenant:
    """The tenant with this id. Raises NotFound, also for a malformed id."""
    row = is_id(tenant_id, "ten") and Tenant.objects.filter(pk=tenant_id).first()
    if not row:
        raise NotFound("There is no such tenant.")
    return row


def tenant_names(ids: Collection[str]) -> dict[str, str]:
    """The names of the tenants with these ids. One query, none for none."""
    return dict(Tenant.objects.filter(pk__in=ids).values_list("pk", "name")) if ids else {}


def tenants_called(text: str) -> QuerySet[Tenant]:
    """Of the 5,000 newest tenants those that have `text` in their name, for staff."""
    newest = Tenant.objects.order_by("-pk").values("pk")[:SEARCHED_MAX]
    return Tenant.objects.filter(name__icontains=text, pk__in=newest).order_by("name", "pk")


def audit_events(*, tenant_id: str) -> QuerySet[AuditEvent]:
    """The tenant's lines of the audit log, newest first."""
    return AuditEvent.objects.filter(tenant_id=tenant_id).order_by("-created_at", "-pk")


def audit_events_about(*, tenant_id: str, subject_id: str) -> QuerySet[AuditEvent]:
    """The tenant's lines of the audit log about one thing, newest first."""
    return audit_events(tenant_id=tenant_id).filter(subject_id=subject_id)


def member_emails(
    *, tenant_id: str, roles: Sequence[Role], without: Collection[str] = ()
) -> list[str]:
    """The addresses of the tenant's active people in these roles, sorted; `without` the people of
    these ids."""
    members = Membership.objects.filter(tenant_id=tenant_id, role__in=roles, user__is_active=True)
    if without:
        members = members.exclude(user_id__in=without)
    return list(members.order_by("user__email").values_list("user__email", flat=True))


def people_in(
    *, tenant_ids: Collection[str], roles: Sequence[Role]
) -> dict[str, list[tuple[str, str]]]:
    """The active people of each tenant in these roles: their ids and addresses, sorted by address.
    One query, none without tenants."""
    found: dict[str, list[tuple[str, str]]] = {}
    members = Membership.objects.filter(
        tenant_id__in=tenant_ids, role__in=roles, user__is_active=True
    )
    rows = members.order_by("user__email").values_list("tenant_id", "user_id", "user__email")
    for tenant_id, user_id, email in rows:
        found.setdefault(tenant_id, []).append((user_id, email))
    return found


def staff_emails(*, power: str) -> list[str]:
    """The addresses of those who work for us and have this power (`app.codename`), sorted."""
    app, _, code = power.partition(".")
    people = User.objects.filter(
        is_active=True,
        is_staff=True,
        groups__permissions__codename=code,
        groups__permissions__content_type__app_label=app,
    )
    return sorted(set(people.values_list("email", flat=True)))


def approves_again_from(*, user_id: str, now: datetime) -> datetime | None:
    """The moment from which a person who does not approve anywhere now approves again; None where
    they wait nowhere."""
    waiting = Membership.objects.filter(user_id=user_id, approves_from__gt=now)
    return waiting.order_by("-approves_from").values_list("approves_from", flat=True).first()


def approves_from(*, tenant_id: str, user_id: str) -> datetime | None:
    """From when the member may approve what is paid out; None: without such a limit."""
    rows = Membership.objects.filter(tenant_id=tenant_id, user_id=user_id)
    return rows.values_list("approves_from", flat=True).first()


def new_approvers(*, tenant_id: str, now: datetime) -> dict[str, datetime]:
    """Who of the tenant cannot approve what is paid out yet: their addresses, and from when each
    can. One query."""
    rows = Membership.objects.filter(tenant_id=tenant_id, approves_from__gt=now)
    found = rows.order_by("approves_from", "user__email")
    pairs = found.values_list("user__email", "approves_from")
    return {email: at for email, at in pairs if at is not None}


def is_owner(*, tenant_id: str, user_id: str) -> bool:
    """Whether this active person owns the tenant."""
    return has_role(tenant_id=tenant_id, roles=[Role.OWNER], user_id=user_id)


def require_owner(*, tenant_id: str, user_id: str) -> None:
    """Raises NotAnOwner to who owns the tenant no more. Who locked it before is right about it
    until the transaction ends."""
    if not is_owner(tenant_id=tenant_id, user_id=user_id):
        raise NotAnOwner("You are no owner any more.")


def has_left(*, tenant_id: str, email: str) -> bool:
    """Whether the person of this address was removed from the tenant and is not in it again, or has
    a closed account. Of an address that nobody has: whether a member had it, who was removed or has
    another one. Three queries at most."""
    known = User.objects.filter(email=email.lower())
    person = known.values_list("pk", "is_active").first()
    if person is None:
        return _was_of_a_member(tenant_id, email.lower())
    user_id, is_active = person
    if Membership.objects.filter(tenant_id=tenant_id, user_id=user_id).exists():
        return not is_active
    events = AuditEvent.objects.filter(subject_id=user_id, action=REMOVED, tenant_id=tenant_id)
    return events.exists()


def _was_of_a_member(tenant_id: str, email: str) -> bool:
    was = Q(action=REMOVED, details__email=email) | Q(action=ADDRESS_SET, details__before=email)
    return AuditEvent.objects.filter(was, tenant_id=tenant_id).exists()


def is_lone_owner(*, tenant_id: str, user_id: str, roles: Sequence[Role], since: datetime) -> bool:
    """Whether this owner is alone: nobody else has one of these roles, and nobody who had one was
    removed or given another since then, or the others could be removed first (decision 0072)."""
    others = has_others(tenant_id=tenant_id, roles=roles, user_id=user_id)
    if others or not is_owner(tenant_id=tenant_id, user_id=user_id):
        return False
    return not has_demoted(tenant_id=tenant_id, roles=roles, since=since)


def has_members(*, tenant_id: str) -> bool:
    """Whether anybody belongs to the tenant, with an open account or a closed one. One query."""
    return Membership.objects.filter(tenant_id=tenant_id).exists()


def has_others(*, tenant_id: str, roles: Sequence[Role], user_id: str) -> bool:
    """Whether anybody besides this person has one of these roles."""
    members = Membership.objects.filter(tenant_id=tenant_id, role__in=roles, user__is_active=True)
    return members.exclude(user_id=user_id).exists()


def has_role(*, tenant_id: str, roles: Sequence[Role], user_id: str) -> bool:
    """Whether this active person has one of these roles in the tenant."""
    members = Membership.objects.filter(tenant_id=tenant_id, role__in=roles, user__is_active=True)
    return members.filter(user_id=user_id).exists()


def has_demoted(*, tenant_id: str, roles: Sequence[Role], since: datetime) -> bool:
    """Whether anybody who had one of these roles was removed from the tenant, got another role, or
    had the account closed by our support since then. A line of the audit log that names no former
    role, as earlier releases wrote them, counts as one of these. One query."""
    had_role = Q()
    for action, key in _FORMER_ROLE.items():
        former = Q(**{f"details__{key}__in": list(roles)}) | Q(**{f"details__{key}__isnull": True})
        had_role |= Q(action=action) & former
    events = AuditEvent.objects.filter(had_role, tenant_id=tenant_id, created_at__gt=since)
    return events.exists()


def notice_emails(*, tenant_id: str, notice: Notice) -> list[str]:
    """The addresses of the tenant's active people who want this message, sorted. One query."""
    chosen = Q(**{f"notices__{notice.key}": True})
    by_role = Q(role__in=notice.roles) & ~Q(notices__has_key=notice.key)
    members = Membership.objects.filter(chosen | by_role, tenant_id=tenant_id, user__is_active=True)
    return list(members.order_by("user__email").values_list("user__email", flat=True))


def api_keys(*, tenant_id: str) -> QuerySet[ApiKey]:
    """The tenant's keys, revoked and expired ones included, newest first."""
    return ApiKey.objects.filter(tenant_id=tenant_id).order_by("-created_at", "-pk")


def api_key(*, tenant_id: str, key_id: str) -> ApiKey:
    """One key of the tenant. Raises NotFound, also for a malformed id or another tenant's."""
    row = is_id(key_id, "key") and api_keys(tenant_id=tenant_id).filter(pk=key_id).first()
    if not row:
        raise NotFound("There is no such API key.")
    return row


def people_and_keys(ids: Collection[str]) -> dict[str, str]:
    """The names of the users and API keys with these ids. Two queries."""
    people = [(pk, email) for pk, email, _ in _people(ids)]
    keys = ApiKey.objects.filter(pk__in=ids).values_list("pk", "name")
    return dict(people) | {pk: f"API key {name}" for pk, name in keys}


def names_for_tenants(people: Collection[str]) -> dict[str, str]:
    """The addresses of the people with these ids; our own staff appear as support. One query."""
    named = _people(people)
    return {pk: _SUPPORT if is_staff else email for pk, email, is_staff in named}


def _people(ids: Collection[str]) -> list[tuple[str, str, bool]]:
    """The id and address of each of these people, and whether they work for us."""
    return [(pk, email, is_staff) for pk, email, is_staff in sql.rows(_NAMES, {"ids": list(ids)})]


def name_of(actor: Actor) -> str:
    """The name of an actor in an e-mail. Two queries, none for staff and the product itself."""
    if actor.type == ActorType.STAFF:
        return _SUPPORT
    if actor.type == ActorType.SYSTEM:
        return brand.name()
    unnamed = f"API key {actor.id}" if actor.type == ActorType.API_KEY else actor.id
    return people_and_keys([actor.id]).get(actor.id, unnamed)


def members(*, tenant_id: str) -> QuerySet[Membership]:
    """The tenant's members with their users, by address. One query."""
    rows = Membership.objects.filter(tenant_id=tenant_id).select_related("user")
    return rows.defer("user__password").order_by("user__email")


def member(*, tenant_id: str, membership_id: str) -> Membership:
    """One member of the tenant. Raises NotFound, also for a malformed id or another tenant's."""
    row = (
        is_id(membership_id, "mem")
        and members(tenant_id=tenant_id).filter(pk=membership_id).first()
    )
    if not row:
        raise NotFound("There is no such member.")
    return row


def open_invitations(*, tenant_id: str) -> QuerySet[Invitation]:
    """Invitations that are neither accepted nor revoked, expired ones included, newest first."""
    rows = Invitation.objects.filter(tenant_id=tenant_id, accepted_at=None, revoked_at=None)
    return rows.order_by("-created_at", "-pk")


def actor_ids(*, tenant_id: str, text: str) -> list[str]:
    """The ids under which somebody acted in the tenant. `text` is a person's address, or a key's
    name or prefix.

    The text itself is one of the ids, for approvers by e-mail and for somebody who pastes an id.
    """
    people = sql.rows(_PERSON, {"address": text.lower(), "tenant_id": tenant_id})
    keys = api_keys(tenant_id=tenant_id).filter(Q(name__iexact=text) | Q(prefix=text))
    return [text, *(pk for (pk,) in people), *keys.values_list("pk", flat=True)]


def ids_after(tenant_id: str, *, limit: int) -> list[str]:
    """The next tenants in the order of their ids; start with an empty string."""
    rows = Tenant.objects.filter(pk__gt=tenant_id).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:limit])


def names_of_tenants(*, user_id: str) -> list[str]:
    """The names of the tenants that the person belongs to. One query."""
    rows = Membership.objects.filter(user_id=user_id)
    return list(rows.values_list("tenant__name", flat=True))


def memberships(*, user_id: str) -> QuerySet[Membership]:
    """The person's memberships with their tenants, by tenant name. One query."""
    return (
        Membership.objects.filter(user_id=user_id)
        .select_related("tenant")
        .annotate(is_read_only=read_only(OuterRef("tenant_id")))
        .order_by("tenant__name", "tenant_id")
    )


_MEMBERSHIPS = Rows(memberships, user_id=CharField())


def memberships_at_once(*, user_id: str) -> list[Membership]:
    """`memberships`, for what each page asks."""
    return _MEMBERSHIPS.read(user_id=user_id)
