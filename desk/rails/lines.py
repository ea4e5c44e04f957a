"""Rails in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from desk import doers
from desk.proposals import lines as proposals
from desk.proposals.lines import ProposalLine
from desk.rails import acts, host_keys, stuck, terms
from desk.rails.wording import Line, LinesOfSection
from desk.return_rates import Meter
from networks.ach import key_slots
from networks.ach.connection_terms import HOST_KEYS_MAX
from networks.ach.inbound import lines as fetch_lines
from networks.ach.inbound import rates
from networks.ach.models import AchKey, AchRail, Originator, RailSwitch, RailVersion
from networks.ach.models import RailLine as LineToBank
from networks.ach.models.rails import RailPart
from networks.ach.states import VersionStatus
from networks.rails.models import Route
from tenants import selectors

SHOWN = 50
_TONES = {
    VersionStatus.PROPOSED: "warn",
    VersionStatus.CURRENT: "good",
    VersionStatus.SUPERSEDED: "neutral",
    VersionStatus.REJECTED: "neutral",
}
_VERSION_WORDS = {
    VersionStatus.PROPOSED: "To be approved",
    VersionStatus.CURRENT: "In force",
    VersionStatus.SUPERSEDED: "Replaced",
    VersionStatus.REJECTED: "Rejected",
}
_PARTS = {
    RailPart.BUILDING: "Building files",
    RailPart.SENDING: "Sending files",
    RailPart.READING: "Reading files",
}


@dataclass(frozen=True)
class RailLine:
    """One rail of the list."""

    name: str
    bank: str
    number: int | None
    tone: str
    words: str


@dataclass(frozen=True)
class VersionLine:
    """One version with what it changed, and who decided."""

    row: RailVersion
    tone: str
    words: str
    proposed_by: str
    decided_by: str
    changes: list[Line]


@dataclass(frozen=True)
class PartLine:
    """One part of a rail; `switch` is its stop, if it is stopped."""

    part: str
    name: str
    switch: RailSwitch | None
    by: str


@dataclass(frozen=True)
class OriginatorLine:
    row: Originator
    whose: str


@dataclass(frozen=True)
class HostKey:
    """A slot for a key of the bank's server; `key` is empty if nothing is in it."""

    name: str
    key: str
    fingerprint: str


@dataclass(frozen=True)
class KeyLine:
    """A key of ours: the one in use, the second, and those that are retired, newest first."""

    row: AchKey
    tone: str
    words: str


@dataclass(frozen=True)
class RailPage:
    """Everything the page of one rail shows."""

    name: str
    current: RailVersion | None
    proposed: VersionLine | None
    sections: list[LinesOfSection]
    versions: list[VersionLine]
    parts: list[PartLine]
    keys: list[KeyLine]
    line: LineToBank | None
    advice: str
    host_keys: list[HostKey]
    originators: list[OriginatorLine]
    routes: list[Route]
    waiting: list[ProposalLine]


def rail_lines() -> list[RailLine]:
    """All rails. Three queries: a bank is a contract, so there are few."""
    rails = acts.rails_of_banks().order_by("pk")[:SHOWN]
    current = {
        row.rail_id: row for row in RailVersion.objects.filter(status=VersionStatus.CURRENT)[:SHOWN]
    }
    stopped = set(
        RailSwitch.objects.filter(released_at=None).values_list("rail_id", flat=True)[: 3 * SHOWN]
    )
    return [_rail_line(rail.pk, current.get(rail.pk), rail.pk in stopped) for rail in rails]


def _rail_line(name: str, version: RailVersion | None, is_stopped: bool) -> RailLine:
    if version is None:
        return RailLine(name, "–", None, "warn", "No terms yet")
    bank = version.terms["immediate_destination_name"]
    if is_stopped:
        return RailLine(name, bank, version.number, "bad", "A part is stopped")
    if not version.terms.get("active"):
        return RailLine(name, bank, version.number, "neutral", "Takes no entries")
    return RailLine(name, bank, version.number, "good", "Works")


def rail_page(rail: AchRail) -> RailPage:
    """Some ten queries."""
    versions = list(rail.versions.order_by("-number")[:SHOWN])
    engaged = {switch.part: switch for switch in rail.switches.filter(released_at=None)}
    names = doers.names_of(_people(versions, list(engaged.values())))
    lines = _version_lines(versions, names)
    current = next((row for row in versions if row.status == VersionStatus.CURRENT), None)
    line = fetch_lines.in_trouble().filter(pk=rail.pk).first()
    return RailPage(
        name=rail.pk,
        current=current,
        proposed=next((line for line in lines if line.row.status == VersionStatus.PROPOSED), None),
        sections=terms.sections(current.terms) if current else [],
        versions=lines,
        parts=[_part_line(part, engaged.get(part), names) for part in RailPart],
        keys=_key_lines(rail),
        line=line,
        advice=stuck.advice(line.trouble) if line else "",
        host_keys=_host_keys(current),
        originators=originator_lines(rail.pk),
        routes=list(Route.objects.filter(rail_id=rail.pk).order_by("mode", "method")[:SHOWN]),
        waiting=proposals.of_rail(rail.pk),
    )


def _key_lines(rail: AchRail) -> list[KeyLine]:
    used, second = key_slots.slots(rail.pk)
    retired = rail.keys.exclude(retired_at=None).order_by("-created_at")[:SHOWN]
    found = []
    for row in [*(key for key in (used, second) if key), *retired]:
        if row.retired_at:
            tone, words = "neutral", "Retired"
        elif row == used:
            tone, words = "good", "Ours, in use"
        else:
            tone, words = "info", "Ours, second slot"
        found.append(KeyLine(row, tone, words))
    return found


def version_line(version: RailVersion) -> VersionLine:
    """One version by itself."""
    names = doers.names_of((version.proposed_by, version.decided_by))
    return _version_line(version, acts.before_of(version), names)


def originator_lines(rail: str) -> list[OriginatorLine]:
    """The companies of a rail, the common one first. Two queries."""
    rows = list(
        Originator.objects.filter(rail_id=rail, ended_at=None).order_by("tenant_id")[:SHOWN]
    )
    names = selectors.tenant_names([row.tenant_id for row in rows if row.tenant_id])
    return [
        OriginatorLine(row, names.get(row.tenant_id, row.tenant_id) or "All other tenants")
        for row in rows
    ]


def rates_of(originator: Originator, *, now: datetime) -> tuple[Meter, ...]:
    """Its return rates beside the levels at which its debits stop. One query."""
    counted = rates.count(originator, now=now)
    return tuple(
        Meter(level.name.capitalize(), returns, counted.debits, level.per_mille / 10)
        for level, returns, _percent in counted.shares
    )


def _people(versions: list[RailVersion], engaged: list[RailSwitch]) -> set[str]:
    found = {row.proposed_by for row in versions} | {row.decided_by for row in versions}
    return found | {switch.engaged_by for switch in engaged}


def _version_lines(versions: list[RailVersion], names: dict[str, str]) -> list[VersionLine]:
    """Newest first, each beside the one that was in force before it."""
    in_force = (VersionStatus.CURRENT, VersionStatus.SUPERSEDED)
    lines = []
    for place, row in enumerate(versions):
        earlier = [each for each in versions[place + 1 :] if each.status in in_force]
        before = earlier[0] if earlier else None
        if not earlier and len(versions) == SHOWN:
            before = acts.before_of(row)
        lines.append(_version_line(row, before, names))
    return lines


def _version_line(
    row: RailVersion, before: RailVersion | None, names: dict[str, str]
) -> VersionLine:
    status = VersionStatus(row.status)
    return VersionLine(
        row=row,
        tone=_TONES[status],
        words=_VERSION_WORDS[status],
        proposed_by=names.get(row.proposed_by, ""),
        decided_by=names.get(row.decided_by, ""),
        changes=acts.differences(before, row),
    )


def _part_line(part: RailPart, switch: RailSwitch | None, names: dict[str, str]) -> PartLine:
    return PartLine(part, _PARTS[part], switch, names.get(switch.engaged_by, "") if switch else "")


def _host_keys(version: RailVersion | None) -> list[HostKey]:
    keys = list(version.terms.get("connection", {}).get("host_keys", ())) if version else []
    keys += [""] * (HOST_KEYS_MAX - len(keys))
    return [
        HostKey(name, key, host_keys.fingerprint(key))
        for name, key in zip(("In use", "Next"), keys, strict=True)
    ]
