"""Our keys at a bank, in two slots: the one in use, and a second one that the bank gets to know.

Private halves are made here, sealed, and never shown. The caller writes the audit log. To make a
key loads asyncssh (30 MiB).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib import import_module
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import F

from common import crypto
from common.errors import StaffRefusal
from networks.ach.inbound import lines
from networks.ach.models import AchKey


class KeysRefused(StaffRefusal):
    code = "rail_keys_refused"
    title = "Our keys were not changed"
    advice = "Read the rail again: somebody may have changed its keys."


class Slots(NamedTuple):
    """The key that is used, and the other one. None where there is none."""

    used: AchKey | None
    second: AchKey | None


def slots(rail: str, *, is_locked: bool = False) -> Slots:
    """The keys of a rail that are not retired; locked in a transaction, for who changes them."""
    rows = AchKey.objects.filter(rail_id=rail, retired_at=None)
    if is_locked:
        rows = rows.select_for_update(no_key=True)
    found = list(rows.order_by(F("used_since").desc(nulls_last=True), "slot"))
    used = found.pop(0) if found and found[0].used_since else None
    return Slots(used, found[0] if found else None)


@transaction.atomic
def make(*, rail: str, by: str, now: datetime) -> AchKey:
    """A new key: the first is used at once, another one is the second until `switch`. Raises
    KeysRefused if there are two."""
    used, second = slots(rail, is_locked=True)
    if second is not None:
        raise KeysRefused("There is a second key already: switch to it, or retire it.")
    slot = 3 - used.slot if used else 1
    return _made(rail, slot, by=by, now=now, used_since=None if used else now)


@transaction.atomic
def switch(*, rail: str, now: datetime) -> AchKey:
    """Use the second key. The one before it becomes the second: to switch back is as quick. Raises
    KeysRefused."""
    used, second = slots(rail, is_locked=True)
    if second is None:
        raise KeysRefused("There is no second key. Make one, and have the bank enter it.")
    second.used_since = now
    if used is not None and used.used_since is not None:
        second.used_since = max(now, used.used_since + timedelta(microseconds=1))
    second.save(update_fields=("used_since",))
    lines.try_again(rail, now=now)
    return second


@transaction.atomic
def retire(*, rail: str, by: str, now: datetime) -> AchKey:
    """End the second key: nobody signs in with it any more. Raises KeysRefused."""
    second = slots(rail, is_locked=True).second
    if second is None:
        raise KeysRefused("There is no second key.")
    _retire(second, by, now)
    return second


@transaction.atomic
def replace(*, rail: str, by: str, now: datetime) -> AchKey:
    """A new key, used at once; those before it are retired. For a key that somebody else may have:
    nothing is sent or fetched until the bank has entered the new one."""
    for key in slots(rail, is_locked=True):
        if key is not None:
            _retire(key, by, now)
    return _made(rail, 1, by=by, now=now, used_since=now)


def _retire(key: AchKey, by: str, now: datetime) -> None:
    key.retired_by, key.retired_at = by, now
    key.save(update_fields=("retired_by", "retired_at"))


def _made(rail: str, slot: int, *, by: str, now: datetime, used_since: datetime | None) -> AchKey:
    # It loads asyncssh, which a web process that only switches keys does without.
    pair = import_module("networks.ach.sftp.keys").generate_client_key()
    made = AchKey(
        rail_id=rail,
        slot=slot,
        public_key=pair.public.text,
        fingerprint=pair.public.fingerprint,
        created_by=by,
        created_at=now,
        used_since=used_since,
    )
    made.private_key_token = crypto.encrypt(pair.private.decode(), context=made.encryption_context)
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError as error:
        raise KeysRefused("Somebody made another key meanwhile.") from error
    return made
