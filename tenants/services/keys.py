"""API keys: `bal_test_…` or `bal_live_…`, 32 random bytes in base 62, then a checksum.

Shown once. The random part is 256 bits, so a plain SHA-256 digest is enough to keep.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from tenants import scopes as known_scopes
from tenants.actors import Actor
from tenants.errors import InvalidKeySettings, TooManyKeys, UnknownScope
from tenants.models import ApiKey, Mode, Tenant
from tenants.services import audit

KEYS_PER_TENANT_MAX = 20
OVERLAP_MAX = timedelta(days=7)
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_LENGTH = 43  # 32 bytes in base 62
_CHECKSUM_LENGTH = 6  # a CRC-32 in base 62
_PREFIX_LENGTH = len("bal_test_") + 8
KEY_LENGTH = len("bal_test_") + _SECRET_LENGTH + _CHECKSUM_LENGTH


@dataclass(frozen=True)
class IssuedKey:
    """The only moment the key itself exists outside the caller's hands."""

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
) -> IssuedKey:
    """A new key. Raises UnknownScope, InvalidKeySettings, TooManyKeys."""
    _check(scopes, expires_at, allowed_networks, now)
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    if _usable(tenant.pk, now).count() >= KEYS_PER_TENANT_MAX:
        raise TooManyKeys(f"This tenant already has {KEYS_PER_TENANT_MAX} usable keys.")
    text = _new_text(Mode(tenant.mode))
    key = ApiKey.objects.create(
        tenant=tenant,
        name=name,
        prefix=prefix_of(text),
        digest=digest_of(text),
        scopes=list(scopes),
        allowed_networks=list(allowed_networks),
        expires_at=expires_at,
    )
    audit.record(
        tenant_id=tenant.pk,
        actor=actor,
        action="api_key.issued",
        subject_id=key.pk,
        details={"name": name, "scopes": list(scopes)},
        now=now,
    )
    return IssuedKey(key=key, text=text)


@transaction.atomic
def rotate(*, key: ApiKey, overlap: timedelta, actor: Actor, now: datetime) -> IssuedKey:
    """Replace `key` by one with the same rights; the old one works for `overlap` longer.

    Raises InvalidKeySettings when the overlap is not within 0–7 days or the key is not usable.
    """
    if not timedelta(0) <= overlap <= OVERLAP_MAX:
        raise InvalidKeySettings("The overlap must be between 0 and 7 days.")
    ends = now + overlap
    old = _usable(key.tenant_id, now).select_for_update(no_key=True).filter(pk=key.pk).first()
    if old is None:
        raise InvalidKeySettings("This key is revoked or expired; create a new one.")
    ApiKey.objects.filter(pk=old.pk).update(
        expires_at=min(ends, old.expires_at) if old.expires_at else ends
    )
    audit.record(
        tenant_id=key.tenant_id,
        actor=actor,
        action="api_key.rotated",
        subject_id=key.pk,
        details={"overlapHours": overlap.total_seconds() / 3600},
        now=now,
    )
    return issue(
        tenant=old.tenant,
        name=old.name,
        actor=actor,
        now=now,
        scopes=old.scopes,
        expires_at=old.expires_at,
        allowed_networks=old.allowed_networks,
    )


@transaction.atomic
def revoke(*, key_id: str, actor: Actor, now: datetime) -> bool:
    """End a key at once. Returns False when it was revoked already or never existed."""
    if not ApiKey.objects.filter(pk=key_id, revoked_at=None).update(revoked_at=now):
        return False
    tenant_id = ApiKey.objects.values_list("tenant_id", flat=True).get(pk=key_id)
    audit.record(
        tenant_id=tenant_id, actor=actor, action="api_key.revoked", subject_id=key_id, now=now
    )
    return True


def touch(*, key_id: str, now: datetime) -> None:
    """Note that the key was used; at most one write a minute."""
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - timedelta(minutes=1))
    ApiKey.objects.filter(stale, pk=key_id).update(last_used_at=now)


def prefix_of(text: str) -> str:
    return text[:_PREFIX_LENGTH]


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def is_wellformed(text: str) -> bool:
    """Whether `text` can be a key at all: prefix, length and checksum. Costs no query."""
    if len(text) != KEY_LENGTH or not text.isascii():
        return False
    if not text.startswith(("bal_test_", "bal_live_")):
        return False
    body, checksum = text[:-_CHECKSUM_LENGTH], text[-_CHECKSUM_LENGTH:]
    return hmac.compare_digest(_checksum(body), checksum)


def _usable(tenant_id: str, now: datetime) -> QuerySet[ApiKey]:
    unexpired = Q(expires_at=None) | Q(expires_at__gt=now)
    return ApiKey.objects.filter(unexpired, tenant_id=tenant_id, revoked_at=None)


def _new_text(mode: Mode) -> str:
    word = "live" if mode is Mode.LIVE else "test"
    secret = _base62(int.from_bytes(secrets.token_bytes(32)), _SECRET_LENGTH)
    body = f"bal_{word}_{secret}"
    return body + _checksum(body)


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 62)
        digits = _ALPHABET[rest] + digits
    return digits.rjust(length, "0")


def _check(
    scopes: Sequence[str],
    expires_at: datetime | None,
    allowed_networks: Sequence[str],
    now: datetime,
) -> None:
    if unknown := set(scopes) - set(known_scopes.ALL):
        raise UnknownScope(f"Unknown: {', '.join(sorted(unknown))}.", field="scopes")
    if expires_at is not None and expires_at <= now:
        raise InvalidKeySettings("The expiry must be in the future.", field="expiresAt")
    for network in allowed_networks:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise InvalidKeySettings(
                f"{network} is not a network.", field="allowedNetworks"
            ) from error
