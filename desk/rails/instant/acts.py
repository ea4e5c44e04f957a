"""What people do to an instant rail, each step with its line in the audit log."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from desk.rails.instant import lines
from networks.instant import changing, key_slots
from networks.instant import lines as line_work
from networks.instant.models import InstantKey, InstantLine, InstantRail, InstantVersion
from networks.instant.models.rails import ProfileName
from networks.instant.terms import RailTerms
from networks.rails.models import RailKind

APPROVES = "instant.change_instantversion"
PROPOSES = "instant.add_instantversion"


@transaction.atomic
def open_rail(
    *, name: str, profile: ProfileName | None, kind: RailKind | None, doer: Doer, now: datetime
) -> InstantRail:
    """A rail without terms, if it is not there: by a command. Raises ChangeRefused."""
    rail = changing.open_rail(name=name, profile=profile, kind=kind, now=now)
    if rail.created_at == now:
        doers.record(doer, "rail.opened", rail.pk, now=now, profile=rail.profile)
    return rail


@transaction.atomic
def propose(
    *, rail: InstantRail, terms: RailTerms, account: str, reason: str, doer: Doer, now: datetime
) -> InstantVersion:
    """Ask another person to agree to new terms. Raises ChangeRefused."""
    version = changing.propose(
        rail=rail, terms=terms, account=account, by=doer.name, reason=reason, now=now
    )
    _record("proposed", version, doer, now, reason)
    return version


@transaction.atomic
def approve(*, version: InstantVersion, doer: Doer, now: datetime) -> None:
    """Raises ChangeRefused, NotASecondPerson."""
    approved = changing.approve(version_id=version.pk, by=doer.name, now=now)
    doers.require_second(doer, APPROVES, approved, proposes=PROPOSES)
    _record("approved", approved, doer, now)


@transaction.atomic
def reject(*, version: InstantVersion, doer: Doer, now: datetime) -> None:
    """Raises ChangeRefused."""
    _record("rejected", changing.reject(version_id=version.pk, by=doer.name, now=now), doer, now)


@transaction.atomic
def withdraw(*, version: InstantVersion, doer: Doer, now: datetime) -> None:
    """Raises ChangeRefused."""
    _record("withdrawn", changing.withdraw(version_id=version.pk, by=doer.name, now=now), doer, now)


@transaction.atomic
def change_alone(
    *, rail: InstantRail, terms: RailTerms, account: str, reason: str, doer: Doer, now: datetime
) -> InstantVersion:
    """Terms in force at once, by a command. Raises ChangeRefused."""
    version = changing.change_alone(
        rail=rail, terms=terms, account=account, by=doer.name, reason=reason, now=now
    )
    _record("changed", version, doer, now, reason)
    return version


@transaction.atomic
def make_key(*, rail: str, reason: str, doer: Doer, now: datetime) -> InstantKey:
    """A new key of ours: in use at once if it is the first, the second one if not. Raises
    KeysRefused."""
    key = key_slots.make(rail=rail, by=doer.name, now=now)
    return _record_key("made", key, reason, doer, now)


@transaction.atomic
def take_key(
    *, rail: str, private_key: str, certificate: str, reason: str, doer: Doer, now: datetime
) -> InstantKey:
    """A key that was made elsewhere, by a command. Raises KeysRefused."""
    key = key_slots.take(
        rail=rail, private_key=private_key, certificate=certificate, by=doer.name, now=now
    )
    return _record_key("made", key, reason, doer, now)


@transaction.atomic
def certify_key(
    *, rail: str, certificate: str, reason: str, doer: Doer, now: datetime
) -> InstantKey:
    """The operator's certificate for a key that we have. Raises KeysRefused."""
    key = key_slots.certify(rail=rail, certificate=certificate, by=doer.name, now=now)
    return _record_key("certified", key, reason, doer, now)


@transaction.atomic
def switch_key(*, rail: str, reason: str, doer: Doer, now: datetime) -> InstantKey:
    """Use the second key from now on. Raises KeysRefused."""
    key = key_slots.switch(rail=rail, now=now)
    return _record_key("switched", key, reason, doer, now)


@transaction.atomic
def retire_key(*, rail: str, reason: str, doer: Doer, now: datetime) -> InstantKey:
    """End the second key. Raises KeysRefused."""
    key = key_slots.retire(rail=rail, by=doer.name, now=now)
    return _record_key("retired", key, reason, doer, now)


@transaction.atomic
def replace_key(*, rail: str, reason: str, doer: Doer, now: datetime) -> InstantKey:
    """A new key in the place of all others, at once. Raises KeysRefused."""
    key = key_slots.replace(rail=rail, by=doer.name, now=now)
    return _record_key("replaced", key, reason, doer, now)


@transaction.atomic
def look_again(*, rail: str, doer: Doer, now: datetime) -> bool:
    """Ask the network at once, after what was in the way. False if nothing was."""
    line = InstantLine.objects.filter(pk=rail).first()
    if line is None or not line_work.try_again(rail, now=now):
        return False
    doers.record(doer, "rail.looked_again", rail, now=now, code=line.trouble)
    return True


def is_one(name: str) -> bool:
    """Whether an instant rail has this name."""
    return "\0" not in name and InstantRail.objects.filter(pk=name).exists()


def found_rail(name: str) -> InstantRail:
    """Raises NotFound."""
    rail = InstantRail.objects.filter(pk=name).first() if "\0" not in name else None
    if rail is None:
        raise NotFound("There is no such rail.")
    return rail


def _record_key(what: str, key: InstantKey, reason: str, doer: Doer, now: datetime) -> InstantKey:
    details = {"fingerprint": key.fingerprint}
    doers.record(doer, f"rail.key_{what}", key.rail_id, now=now, note=reason, **details)
    return key


def _record(what: str, version: InstantVersion, doer: Doer, now: datetime, note: str = "") -> None:
    doers.record(
        doer,
        f"rail.{what}",
        version.rail_id,
        now=now,
        note=note,
        number=version.number,
        changes=[line.in_words for line in lines.changes_of(version)],
    )
