"""Our keys at an instant network, in two slots: the one in use, and a second one that the operator
gets to know.

Private halves are sealed, and never shown. The caller writes the audit log.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import F

from common import crypto
from common.errors import StaffRefusal
from networks.instant import certificates, lines
from networks.instant.certificates import Pair
from networks.instant.models import InstantKey


class KeysRefused(StaffRefusal):
    code = "instant_keys_refused"
    title = "Our keys were not changed"
    advice = "Read the rail again: somebody may have changed its keys."


class Slots(NamedTuple):
    """The key that is used, and the other one. None where there is none."""

    used: InstantKey | None
    second: InstantKey | None


def slots(rail: str, *, is_locked: bool = False) -> Slots:
    """The keys of a rail that are not retired; locked in a transaction, for who changes them."""
    rows = InstantKey.objects.filter(rail_id=rail, retired_at=None)
    if is_locked:
        rows = rows.select_for_update(no_key=True)
    found = list(rows.order_by(F("used_since").desc(nulls_last=True), "slot"))
    used = found.pop(0) if found and found[0].used_since else None
    return Slots(used, found[0] if found else None)


@transaction.atomic
def make(*, rail: str, by: str, now: datetime) -> InstantKey:
    """A new key: the first is used at once, another one is the second until `switch`. Raises
    KeysRefused if there are two."""
    return _add(rail, certificates.make(rail, now=now), by, now)


@transaction.atomic
def take(*, rail: str, private_key: str, certificate: str, by: str, now: datetime) -> InstantKey:
    """A key that was made elsewhere, with the operator's certificate, as `make` has one of its own.
    Raises KeysRefused."""
    try:
        pair = certificates.take(private_key, certificate)
    except certificates.Refused as error:
        raise KeysRefused(str(error)) from error
    _require_valid(pair.certificate, now)
    return _add(rail, pair, by, now)


@transaction.atomic
def certify(*, rail: str, certificate: str, by: str, now: datetime) -> InstantKey:
    """The operator's certificate for a key that we have takes the place of the one that we signed,
    or of an older one. Raises KeysRefused."""
    fingerprint = _require_valid(certificate, now)
    of_key = [each for each in slots(rail, is_locked=True) if each is not None]
    known = next((each for each in of_key if each.fingerprint == fingerprint), None)
    if known is None:
        raise KeysRefused("This certificate is of none of our keys here.")
    if known.certificate.strip() == certificate.strip():
        raise KeysRefused("This certificate is there already.")
    private = crypto.decrypt(known.private_key_token, context=known.encryption_context)
    pair = Pair(private, certificate.strip() + "\n", known.signing_request, fingerprint)
    _retire(known, by, now)
    return _made(rail, pair, known.slot, by=by, now=now, used_since=known.used_since and now)


@transaction.atomic
def switch(*, rail: str, now: datetime) -> InstantKey:
    """Use the second key. The one before it becomes the second: to switch back is as quick. Raises
    KeysRefused."""
    used, second = slots(rail, is_locked=True)
    if second is None:
        raise KeysRefused("There is no second key. Make one, and have the operator enter it.")
    second.used_since = now
    if used is not None and used.used_since is not None:
        second.used_since = max(now, used.used_since + timedelta(microseconds=1))
    second.save(update_fields=("used_since",))
    lines.try_again(rail, now=now)
    return second


@transaction.atomic
def retire(*, rail: str, by: str, now: datetime) -> InstantKey:
    """End the second key: nothing is sent with it any more. Raises KeysRefused."""
    second = slots(rail, is_locked=True).second
    if second is None:
        raise KeysRefused("There is no second key.")
    _retire(second, by, now)
    return second


@transaction.atomic
def replace(*, rail: str, by: str, now: datetime) -> InstantKey:
    """A new key, used at once; those before it are retired. For a key that somebody else may have:
    nothing is sent or received until the operator has entered the new one."""
    for key in slots(rail, is_locked=True):
        if key is not None:
            _retire(key, by, now)
    return _made(rail, certificates.make(rail, now=now), 1, by=by, now=now, used_since=now)


def _require_valid(certificate: str, now: datetime) -> str:
    """The fingerprint of a certificate that holds now."""
    try:
        found = certificates.read(certificate)
    except certificates.Refused as error:
        raise KeysRefused(str(error)) from error
    if found.valid_until <= now:
        raise KeysRefused("This certificate is not valid any more.")
    return found.fingerprint


def _add(rail: str, pair: Pair, by: str, now: datetime) -> InstantKey:
    used, second = slots(rail, is_locked=True)
    if second is not None:
        raise KeysRefused("There is a second key already: switch to it, or retire it.")
    if used is not None and used.fingerprint == pair.fingerprint:
        raise KeysRefused("This key is in use already.")
    slot = 3 - used.slot if used else 1
    return _made(rail, pair, slot, by=by, now=now, used_since=None if used else now)


def _retire(key: InstantKey, by: str, now: datetime) -> None:
    key.retired_by, key.retired_at = by, now
    key.save(update_fields=("retired_by", "retired_at"))


def _made(
    rail: str, pair: Pair, slot: int, *, by: str, now: datetime, used_since: datetime | None
) -> InstantKey:
    made = InstantKey(
        rail_id=rail,
        slot=slot,
        certificate=pair.certificate,
        fingerprint=pair.fingerprint,
        signing_request=pair.signing_request,
        created_by=by,
        created_at=now,
        used_since=used_since,
    )
    made.private_key_token = crypto.encrypt(pair.private_key, context=made.encryption_context)
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError as error:
        raise KeysRefused("Somebody made another key meanwhile.") from error
    if used_since is not None:
        lines.try_again(rail, now=now)
    return made
