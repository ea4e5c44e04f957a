"""What people do to a rail, each step with its line in the audit log."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from common import crypto
from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from desk.proposals import asking
from desk.rails import wording
from desk.rails.terms import WORDING
from desk.rails.wording import Line
from networks.ach import changing, key_slots, originating, probing, switches
from networks.ach.inbound import lines as fetch_lines
from networks.ach.models import AchKey, AchRail, Originator, RailLine, RailSwitch, RailVersion
from networks.ach.models.proposals import ProposalKind
from networks.ach.models.rails import RailPart
from networks.ach.originating import Company
from networks.ach.probing import Finding
from networks.ach.terms import RailTerms
from networks.instant.models import InstantRail
from networks.rails.models import RailKind

APPROVES = "ach.change_railversion"
PROPOSES = "ach.add_railversion"


@transaction.atomic
def propose(
    *,
    rail: str,
    terms: RailTerms,
    offset_account: str | None,
    reason: str,
    doer: Doer,
    now: datetime,
) -> RailVersion:
    """Ask another person to agree to new terms. Raises ChangeRefused."""
    version = changing.propose(
        rail=rail, terms=terms, offset_account=offset_account, by=doer.name, reason=reason, now=now
    )
    _record("proposed", version, doer, now, reason)
    return version


@transaction.atomic
def approve(*, version: RailVersion, doer: Doer, now: datetime) -> None:
    """Raises ChangeRefused, NotASecondPerson."""
    approved = changing.approve(version_id=version.pk, by=doer.name, now=now)
    doers.require_second(doer, APPROVES, approved, proposes=PROPOSES)
    _record("approved", approved, doer, now)


@transaction.atomic
def reject(*, version: RailVersion, doer: Doer, now: datetime) -> None:
    """Raises ChangeRefused."""
    rejected = changing.reject(version_id=version.pk, by=doer.name, now=now)
    _record("rejected", rejected, doer, now)


@transaction.atomic
def change_alone(
    *,
    rail: str,
    kind: RailKind | None,
    terms: RailTerms,
    offset_account: str | None,
    reason: str,
    doer: Doer,
    now: datetime,
) -> RailVersion:
    """Terms in force at once, by a command; a new rail needs its `kind`. Raises ChangeRefused."""
    changing.open_rail(name=rail, kind=kind, now=now)
    version = changing.change_alone(
        rail=rail, terms=terms, offset_account=offset_account, by=doer.name, reason=reason, now=now
    )
    _record("changed", version, doer, now, reason)
    return version


@transaction.atomic
def engage(*, rail: str, part: RailPart, reason: str, doer: Doer, now: datetime) -> RailSwitch:
    """Stop a part of the rail. Raises SwitchRefused."""
    switch = switches.engage(rail=rail, part=part, reason=reason, by=doer.name, now=now)
    doers.record(doer, "rail.stopped", rail, now=now, note=reason, part=str(part))
    return switch


@transaction.atomic
def release(*, switch: RailSwitch, reason: str, doer: Doer, now: datetime) -> None:
    """Let a part of the rail go on. Raises SwitchRefused."""
    switches.release(switch_id=switch.pk, reason=reason, by=doer.name, now=now)
    doers.record(doer, "rail.went_on", switch.rail_id, now=now, note=reason, part=switch.part)


@transaction.atomic
def assign(
    *, rail: str, tenant_id: str, company: Company, reason: str, doer: Doer, now: datetime
) -> Originator | None:
    """Lower limits of an originator. None: it is more than that, and waits for another person.
    Raises StaffRefusal."""
    known: dict[str, Any] = {"rail": rail, "tenant_id": tenant_id, "company": company, "now": now}
    row = originating.lower(**known)
    if row is None:
        subject = originating.id_of(rail=rail, tenant_id=tenant_id)
        kind = ProposalKind.ORIGINATOR
        asking.propose(kind, subject=subject, reason=reason, doer=doer, **known)
        return None
    return _record_assigned(row, company, reason, doer, now)


@transaction.atomic
def assign_alone(
    *, rail: str, tenant_id: str, company: Company, reason: str, doer: Doer, now: datetime
) -> Originator:
    """Make or change an originator, by a command. Raises OriginatorRefused."""
    row = originating.assign(rail=rail, tenant_id=tenant_id, company=company, now=now)
    return _record_assigned(row, company, reason, doer, now)


def _record_assigned(
    row: Originator, company: Company, reason: str, doer: Doer, now: datetime
) -> Originator:
    details: dict[str, Any] = {"rail": row.rail_id, "tenantId": row.tenant_id, **asdict(company)}
    doers.record(doer, "originator.assigned", row.pk, now=now, note=reason, **details)
    return row


@transaction.atomic
def end(*, originator: Originator, reason: str, doer: Doer, now: datetime) -> bool:
    """Take nothing more in this name. False: it waits for another person, because a tenant uses
    the common company then, with other limits. Raises StaffRefusal."""
    if originator.tenant_id and not doer.is_alone:
        asking.propose(
            ProposalKind.END_ORIGINATOR,
            rail=originator.rail_id,
            subject=originator.pk,
            tenant_id=originator.tenant_id,
            reason=reason,
            doer=doer,
            now=now,
        )
        return False
    originating.end(originator_id=originator.pk, now=now)
    details = {"rail": originator.rail_id, "company_name": originator.company_name}
    doers.record(doer, "originator.ended", originator.pk, now=now, note=reason, **details)
    return True


@transaction.atomic
def make_key(*, rail: str, reason: str, doer: Doer, now: datetime) -> AchKey:
    """A new key of ours: in use at once if it is the first, the second one if not. Raises
    KeysRefused."""
    key = key_slots.make(rail=rail, by=doer.name, now=now)
    return _record_key("made", key, reason, doer, now)


@transaction.atomic
def switch_key(*, rail: str, reason: str, doer: Doer, now: datetime) -> AchKey:
    """Sign in with the second key from now on. Raises KeysRefused."""
    key = key_slots.switch(rail=rail, now=now)
    return _record_key("switched", key, reason, doer, now)


@transaction.atomic
def retire_key(*, rail: str, reason: str, doer: Doer, now: datetime) -> AchKey:
    """End the second key. Raises KeysRefused."""
    key = key_slots.retire(rail=rail, by=doer.name, now=now)
    return _record_key("retired", key, reason, doer, now)


@transaction.atomic
def replace_key(*, rail: str, reason: str, doer: Doer, now: datetime) -> AchKey:
    """A new key in the place of all others, at once. Raises KeysRefused."""
    key = key_slots.replace(rail=rail, by=doer.name, now=now)
    return _record_key("replaced", key, reason, doer, now)


@transaction.atomic
def look_again(*, rail: str, doer: Doer, now: datetime) -> bool:
    """Look into the bank's folders at once, after what was in the way. False if nothing was."""
    line = RailLine.objects.filter(pk=rail).first()
    if line is None or not fetch_lines.try_again(rail, now=now):
        return False
    doers.record(doer, "rail.looked_again", rail, now=now, code=line.trouble)
    return True


def test(*, rail: str, doer: Doer, now: datetime) -> list[Finding]:
    """Sign in at the bank and look into its folders. Raises NoTerms."""
    found = probing.probe(rail)
    codes = [each.code for each in found if each.code]
    doers.record(doer, "rail.tested", rail, now=now, codes=codes)
    return found


def rails_of_banks() -> QuerySet[AchRail]:
    """Those that take files of ours: an instant rail has a row for its statements alone."""
    return AchRail.objects.exclude(pk__in=InstantRail.objects.values("pk"))


def found_rail(name: str) -> AchRail:
    """Raises NotFound."""
    rail = rails_of_banks().filter(pk=name).first() if "\0" not in name else None
    if rail is None:
        raise NotFound("There is no such rail.")
    return rail


def _record_key(what: str, key: AchKey, reason: str, doer: Doer, now: datetime) -> AchKey:
    details = {"fingerprint": key.fingerprint}
    doers.record(doer, f"rail.key_{what}", key.rail_id, now=now, note=reason, **details)
    return key


def _record(what: str, version: RailVersion, doer: Doer, now: datetime, note: str = "") -> None:
    doers.record(
        doer,
        f"rail.{what}",
        version.rail_id,
        now=now,
        note=note,
        number=version.number,
        changes=changed(version),
    )


def changed(version: RailVersion) -> list[str]:
    """What a version changes, as sentences."""
    return [line.in_words for line in differences(before_of(version), version)]


def differences(before: RailVersion | None, version: RailVersion) -> list[Line]:
    """What a version changes: its terms, and the number of our account, which is none of them."""
    lines = WORDING.differences(before.terms if before else None, version.terms)
    old, new = _own_account(before), _own_account(version)
    if old != new or new == wording.UNREADABLE:
        lines.append(wording.own_account(old if before else None, new))
    return lines


def before_of(version: RailVersion) -> RailVersion | None:
    """The version that another one takes the place of: the one in force before it."""
    earlier = RailVersion.objects.filter(rail_id=version.rail_id, number__lt=version.number)
    return earlier.filter(status__in=("current", "superseded")).order_by("-number").first()


def _own_account(version: RailVersion | None) -> str:
    """The number of our account in a version; empty where it names none."""
    try:
        return version.offset_account if version else ""
    except crypto.Undecryptable:
        return wording.UNREADABLE
