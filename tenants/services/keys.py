"""API keys: issue, rotate, revoke. The key itself is shown once; only its digest is kept."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from tenants import access_mails, key_text, persons, selectors, signals
from tenants import scopes as known_scopes
from tenants.actors import Actor, api_key
from tenants.errors import InvalidKeySettings, NotAnOwner, TooManyKeys, UnknownScope
from tenants.models import ActorType, ApiKey, Mode, Tenant
from tenants.services import audit, key_locks, names

KEYS_PER_TENANT_MAX = 20
# Counted with the keys that were replaced: each of them may still work during its overlap.
KEYS_WITH_OVERLAP_MAX = 2 * KEYS_PER_TENANT_MAX
ALLOWED_NETWORKS_MAX = 50
OVERLAP_MAX = timedelta(days=7)


@dataclass(frozen=True)
class IssuedKey:
    """A key with its text, which exists nowhere else."""

    key: ApiKey
    text: str


@transaction.atomic
def issue(
    *,
    tenant: Tenant,
    name: str,
    actor: Actor,
    now: datetime,
    scopes: Sequence[str] = known_scopes.ALL,
    expires_at: datetime | None = None,
    allowed_networks: Sequence[str] = (),
    may_loosen_auto_funding: bool = True,
    text: str | None = None,
) -> IssuedKey:
    """Create a key. `text` is the key itself, from `key_text.new`; asked again with the same text,
    it returns the same key.

    Raises InvalidName, UnknownScope, InvalidKeySettings, TooManyKeys, NotAnOwner.
    """
    _check_scopes(scopes)
    check_networks(allowed_networks)
    if expires_at is not None and expires_at <= now:
        raise InvalidKeySettings("The expiry must be in the future.", field="expiresAt")
    _lock_tenant(tenant.pk)
    _require_still_owner(tenant.pk, actor)
    if made := _made_before(tenant.pk, text):
        return made
    if _usable(tenant.pk, now).count() >= KEYS_PER_TENANT_MAX:
        raise TooManyKeys(f"This tenant already has {KEYS_PER_TENANT_MAX} usable keys.")
    key = ApiKey(
        tenant=tenant,
        name=names.checked(name),
        scopes=sorted(set(scopes)),
        allowed_networks=list(allowed_networks),
        may_loosen_auto_funding=may_loosen_auto_funding,
        expires_at=expires_at,
    )
    return _write(key, text=text, actor=actor, now=now)


@transaction.atomic
def rotate(
    *, key: ApiKey, overlap: timedelta, actor: Actor, now: datetime, text: str | None = None
) -> IssuedKey:
    """Replace `key` by one with the same rights; the old one works for `overlap` longer.

    `text` is the new key itself, from `key_text.new`; with the same text it rotates only once.
    Raises InvalidKeySettings if the overlap is not within 0–7 days or the key is not usable,
    TooManyKeys if too many old keys still work, NotAnOwner.
    """
    if not timedelta(0) <= overlap <= OVERLAP_MAX:
        raise InvalidKeySettings("The overlap must be between 0 and 7 days.")
    _lock_tenant(key.tenant_id)
    _require_still_owner(key.tenant_id, actor)
    if made := _made_before(key.tenant_id, text):
        return made
    key_locks.lock([key.pk])
    old = _usable(key.tenant_id, now).select_related("tenant").filter(pk=key.pk).first()
    if old is None:
        raise InvalidKeySettings("This key is revoked or expired; create a new one.")
    if overlap and _usable(key.tenant_id, now).count() >= KEYS_WITH_OVERLAP_MAX:
        raise TooManyKeys("Too many old keys still work. Rotate without overlap, or revoke some.")
    ends = min(now + overlap, old.expires_at or now + overlap)
    ApiKey.objects.filter(pk=old.pk).update(expires_at=ends)
    audit.record(
        tenant_id=old.tenant_id,
        actor=actor,
        action="api_key.rotated",
        subject_id=old.pk,
        details={"oldKeyEndsAt": ends.isoformat()},
        now=now,
    )
    holders = persons.ever_behind(api_key(old.pk))
    return _write(_successor_of(old), text=text, actor=actor, now=now, former_holders=holders)


@transaction.atomic
def revoke(*, key_id: str, actor: Actor, now: datetime) -> bool:
    """End a key at once; what it ordered and is not sent yet waits for a second person (decision
    0192). Returns False when it was revoked already or never existed."""
    key_locks.lock([key_id])
    tenant_id = _end(key_id, actor, now)
    if tenant_id is None:
        return False
    signals.key_revoked.send(
        sender=ApiKey, tenant_id=tenant_id, key_id=key_id, actor=actor, now=now
    )
    return True


def _end(key_id: str, actor: Actor, now: datetime) -> str | None:
    """Revoke a key, and return the id of its tenant; None if it was revoked already. In the
    caller's transaction, which has locked the key."""
    if not ApiKey.objects.filter(pk=key_id, revoked_at=None).update(revoked_at=now):
        return None
    tenant_id = ApiKey.objects.values_list("tenant_id", flat=True).get(pk=key_id)
    audit.record(
        tenant_id=tenant_id, actor=actor, action="api_key.revoked", subject_id=key_id, now=now
    )
    return tenant_id


@dataclass(frozen=True)
class LeftKeys:
    """What became of the keys of somebody who left: how many were taken over, and revoked."""

    taken_over: int
    revoked: int


def settle_left(
    *, tenant_id: str, person_id: str, taken_over: Collection[str], actor: Actor, now: datetime
) -> LeftKeys:
    """Revoke the usable keys of a person who leaves. Those of these ids go on instead: the actor,
    another owner, is behind them from now on. In the caller's transaction, which has locked the
    tenant; until it ends nobody pays by one of them. Raises NotAnOwner."""
    key_locks.lock(persons.keys_ever_of(tenant_id=tenant_id, person_id=person_id))
    left = made_by(tenant_id=tenant_id, person_id=person_id, now=now)
    taken = [key for key in left if key.pk in taken_over]
    if taken:
        _require_other_owner(tenant_id, person_id, actor)
    for key in taken:
        audit.record(
            tenant_id=tenant_id,
            actor=actor,
            action=persons.TAKEN_OVER,
            subject_id=key.pk,
            details={"name": key.name, "from": person_id},
            now=now,
        )
    revoked = [key for key in left if key not in taken]
    for key in revoked:
        _end(key.pk, actor, now)
    return LeftKeys(taken_over=len(taken), revoked=len(revoked))


def made_by(*, tenant_id: str, person_id: str, now: datetime) -> list[ApiKey]:
    """The usable keys that the person is behind, oldest first. Two queries."""
    usable = list(_usable(tenant_id, now).order_by("created_at", "pk"))
    makers = persons.makers([key.pk for key in usable])
    return [key for key in usable if makers.get(key.pk) == person_id]


@transaction.atomic
def set_pace(
    *,
    key_id: str,
    reads_per_second: int | None,
    writes_per_second: int | None,
    actor: Actor,
    now: datetime,
) -> None:
    """Give a key its own rate limits; None means the usual ones.

    Raises InvalidKeySettings below 1 request a second, ApiKey.DoesNotExist.
    """
    if any(rate is not None and rate < 1 for rate in (reads_per_second, writes_per_second)):
        raise InvalidKeySettings("A rate limit is at least 1 request a second.")
    key_locks.lock([key_id])
    key = ApiKey.objects.defer("digest").get(pk=key_id)
    key.reads_per_second, key.writes_per_second = reads_per_second, writes_per_second
    key.save(update_fields=("reads_per_second", "writes_per_second"))
    audit.record(
        tenant_id=key.tenant_id,
        actor=actor,
        action="api_key.pace_set",
        subject_id=key_id,
        details={"readsPerSecond": reads_per_second, "writesPerSecond": writes_per_second},
        now=now,
    )


@transaction.atomic
def touch(*, key_id: str, now: datetime) -> None:
    """Note that the key was used. Writes at most once a minute, and never waits for the row."""
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - timedelta(minutes=1))
    unlocked = ApiKey.objects.filter(stale, pk=key_id).select_for_update(
        skip_locked=True, no_key=True
    )
    ApiKey.objects.filter(pk__in=unlocked.values("pk")).update(last_used_at=now)


def _successor_of(old: ApiKey) -> ApiKey:
    return ApiKey(
        tenant=old.tenant,
        name=old.name,
        scopes=old.scopes,
        allowed_networks=old.allowed_networks,
        reads_per_second=old.reads_per_second,
        writes_per_second=old.writes_per_second,
        may_loosen_auto_funding=old.may_loosen_auto_funding,
        expires_at=old.expires_at,
    )


def _made_before(tenant_id: str, text: str | None) -> IssuedKey | None:
    if text is None:
        return None
    digest = key_text.digest_of(text)
    key = ApiKey.objects.filter(
        tenant_id=tenant_id, prefix=key_text.prefix_of(text), digest=digest
    ).first()
    return IssuedKey(key=key, text=text) if key else None


def _write(
    key: ApiKey,
    *,
    text: str | None,
    actor: Actor,
    now: datetime,
    former_holders: Collection[str] | None = None,
) -> IssuedKey:
    """Store a new key. `former_holders`: who was behind the one in whose place it is; None: there
    is none."""
    text = text or key_text.new(Mode(key.tenant.mode))
    key.prefix = key_text.prefix_of(text)
    key.digest = key_text.digest_of(text)
    key.save(force_insert=True)
    audit.record(
        tenant_id=key.tenant_id,
        actor=actor,
        action=persons.ISSUED,
        subject_id=key.pk,
        details={
            "name": key.name,
            "scopes": list(key.scopes),
            "mayLoosenAutoFunding": key.may_loosen_auto_funding,
            **({persons.FORMER_HOLDERS: sorted(former_holders)} if former_holders else {}),
        },
        now=now,
    )
    access_mails.tell_of_key(key, is_rotation=former_holders is not None, by=actor, now=now)
    return IssuedKey(key=key, text=text)


def _require_still_owner(tenant_id: str, actor: Actor) -> None:
    """A member who makes a key is an owner under the tenant's lock, and not removed meanwhile."""
    if actor.type == ActorType.USER:
        selectors.require_owner(tenant_id=tenant_id, user_id=actor.id)


def _require_other_owner(tenant_id: str, leaving_id: str, actor: Actor) -> None:
    is_owner = selectors.is_owner(tenant_id=tenant_id, user_id=actor.id)
    if actor.type != ActorType.USER or actor.id == leaving_id or not is_owner:
        raise NotAnOwner("Another owner takes keys over.")


def _lock_tenant(tenant_id: str) -> None:
    """Lock the tenant: its keys are issued one after the other, so that the limit holds."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)


def _usable(tenant_id: str, now: datetime) -> QuerySet[ApiKey]:
    unexpired = Q(expires_at=None) | Q(expires_at__gt=now)
    rows = ApiKey.objects.filter(unexpired, tenant_id=tenant_id, revoked_at=None)
    return rows.defer("digest")


def _check_scopes(scopes: Sequence[str]) -> None:
    if not scopes:
        raise InvalidKeySettings("Choose at least one scope.", field="scopes")
    if unknown := set(scopes) - set(known_scopes.ALL):
        raise UnknownScope(f"Unknown: {', '.join(sorted(unknown))}.", field="scopes")


def check_networks(networks: Sequence[str]) -> None:
    """The networks from which a key may be used, checked. Raises InvalidKeySettings."""
    if len(networks) > ALLOWED_NETWORKS_MAX:
        raise InvalidKeySettings(
            f"At most {ALLOWED_NETWORKS_MAX} networks.", field="allowedNetworks"
        )
    for network in networks:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise InvalidKeySettings(
                f"{network} is not a network.", field="allowedNetworks"
            ) from error
