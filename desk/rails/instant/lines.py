"""Instant rails in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from common import crypto
from desk import doers
from desk.rails import wording
from desk.rails.instant import terms
from desk.rails.wording import Line, LinesOfSection
from networks.instant import certificates, key_slots, position, rails
from networks.instant.models import InstantKey, InstantLine, InstantRail, InstantVersion
from networks.instant.states import VersionStatus
from networks.instant.terms import InvalidTerms
from networks.rails.models import Route

SHOWN = 50
_WERE_IN_FORCE = (VersionStatus.CURRENT, VersionStatus.SUPERSEDED)
ENDS_SOON = timedelta(days=30)
_STATES = {
    VersionStatus.PROPOSED: ("warn", "To be approved"),
    VersionStatus.CURRENT: ("good", "In force"),
    VersionStatus.SUPERSEDED: ("neutral", "Replaced"),
    VersionStatus.REJECTED: ("neutral", "Rejected"),
    VersionStatus.WITHDRAWN: ("neutral", "Withdrawn"),
}
_ADVICE = {
    "no_key": "We have no key. Make one, and have the operator enter its certificate.",
    "server_unknown": "The server shows a key that is not in the terms. Ask the operator before"
    " you change them.",
    "tls_failed": "The server refuses our certificate, or speaks no TLS that we do. Ask the"
    " operator whether it knows our key.",
    "failed": "Something of ours fails: the log says what.",
}
_UNREACHED = "Ask the operator whether the network can be reached, and look at the address."


@dataclass(frozen=True)
class InstantVersionLine:
    """One version with what it changed, and who decided."""

    row: InstantVersion
    tone: str
    words: str
    proposed_by: str
    decided_by: str
    changes: list[Line]


@dataclass(frozen=True)
class InstantKeyLine:
    """A key of ours: the one in use, the second, and those that are retired, newest first.

    `issuer` is empty where we signed the certificate ourselves.
    """

    row: InstantKey
    tone: str
    words: str
    issuer: str
    valid_until: datetime | None
    ends_soon: bool


@dataclass(frozen=True)
class InstantRailLine:
    """One rail of the list."""

    name: str
    network: str
    number: int | None
    tone: str
    words: str
    heard_until: datetime | None


@dataclass(frozen=True)
class InstantRailPage:
    """Everything the page of one rail shows."""

    name: str
    network: str
    current: InstantVersion | None
    is_active: bool
    current_by: str
    account: str
    proposed: InstantVersionLine | None
    sections: list[LinesOfSection]
    versions: list[InstantVersionLine]
    keys: list[InstantKeyLine]
    line: InstantLine | None
    advice: str
    routes: list[Route]
    position: int | None


def rail_lines() -> list[InstantRailLine]:
    """All instant rails. Three queries."""
    rows = list(InstantRail.objects.order_by("pk")[:SHOWN])
    versions = InstantVersion.objects.filter(rail__in=rows, status=VersionStatus.CURRENT)
    current = {version.rail_id: version for version in versions}
    heard = InstantLine.objects.in_bulk([row.pk for row in rows])
    return [_rail_line(row, current.get(row.pk), heard.get(row.pk)) for row in rows]


def _rail_line(
    rail: InstantRail, version: InstantVersion | None, line: InstantLine | None
) -> InstantRailLine:
    tone, words = _state(version, line)
    return InstantRailLine(
        name=rail.pk,
        network=rail.get_profile_display(),
        number=version.number if version else None,
        tone=tone,
        words=words,
        heard_until=line.heard_until if line else None,
    )


def _state(version: InstantVersion | None, line: InstantLine | None) -> tuple[str, str]:
    if version is None:
        return "warn", "No terms yet"
    if line is not None and line.trouble:
        return "bad", "Not heard"
    if not version.terms.get("active"):
        return "neutral", "Takes no orders"
    return "good", "Works"


def rail_page(rail: InstantRail, *, now: datetime) -> InstantRailPage:
    """Some eight queries."""
    rows = list(rail.versions.order_by("-number")[:SHOWN])
    names = doers.names_of({row.proposed_by for row in rows} | {row.decided_by for row in rows})
    lines = [_version_line(row, _before_in(row, rows), names) for row in rows]
    current = next((each for each in lines if each.row.status == VersionStatus.CURRENT), None)
    line = InstantLine.objects.filter(pk=rail.pk).first()
    return InstantRailPage(
        name=rail.pk,
        network=rail.get_profile_display(),
        current=current.row if current else None,
        is_active=bool(current and current.row.terms.get("active")),
        current_by=current.decided_by if current else "",
        account=wording.end_of(own_account(current.row)) if current else "",
        proposed=next((each for each in lines if each.row.status == VersionStatus.PROPOSED), None),
        sections=terms.sections(current.row.terms) if current else [],
        versions=lines,
        keys=_key_lines(rail, now),
        line=line,
        advice=advice(line.trouble) if line and line.trouble else "",
        routes=list(Route.objects.filter(rail_id=rail.pk).order_by("mode", "method")[:SHOWN]),
        position=_position(current.row) if current else None,
    )


def _position(version: InstantVersion) -> int | None:
    """The cents at the network that may still leave; None where no position is kept, or where the
    terms cannot be read."""
    try:
        return position.free(rails.current(version.rail_id))
    except (rails.NoTerms, InvalidTerms):
        return None


def version_line(version: InstantVersion) -> InstantVersionLine:
    """One version by itself."""
    names = doers.names_of((version.proposed_by, version.decided_by))
    return _version_line(version, _before(version), names)


def changes_of(version: InstantVersion) -> list[Line]:
    """What a version changes, seen by itself."""
    return differences(_before(version), version)


def advice(code: str) -> str:
    """What to do about an error of the line."""
    return _ADVICE.get(code, _UNREACHED)


def _before(version: InstantVersion) -> InstantVersion | None:
    """The version that another one takes the place of: the one in force before it."""
    earlier = InstantVersion.objects.filter(rail_id=version.rail_id, number__lt=version.number)
    return earlier.filter(status__in=_WERE_IN_FORCE).order_by("-number").first()


def _before_in(version: InstantVersion, rows: list[InstantVersion]) -> InstantVersion | None:
    """The same, among `rows`, newest first."""
    earlier = (row for row in rows if row.number < version.number)
    return next((row for row in earlier if row.status in _WERE_IN_FORCE), None)


def differences(before: InstantVersion | None, version: InstantVersion) -> list[Line]:
    """What a version changes: its terms, and the number of our account, which is none of them."""
    old = terms.complete(before.terms) if before else None
    lines = terms.WORDING.differences(old, terms.complete(version.terms))
    old_number, number = own_account(before), own_account(version)
    if old_number != number or number == wording.UNREADABLE:
        lines.append(wording.own_account(old_number if before else None, number))
    return lines


def own_account(version: InstantVersion | None) -> str:
    try:
        return version.account if version else ""
    except crypto.Undecryptable:
        return wording.UNREADABLE


def _version_line(
    row: InstantVersion, before: InstantVersion | None, names: dict[str, str]
) -> InstantVersionLine:
    tone, words = _STATES[VersionStatus(row.status)]
    return InstantVersionLine(
        row=row,
        tone=tone,
        words=words,
        proposed_by=names.get(row.proposed_by, ""),
        decided_by=names.get(row.decided_by, ""),
        changes=differences(before, row),
    )


def _key_lines(rail: InstantRail, now: datetime) -> list[InstantKeyLine]:
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
        found.append(_key_line(row, tone, words, now))
    return found


def _key_line(row: InstantKey, tone: str, words: str, now: datetime) -> InstantKeyLine:
    try:
        read = certificates.read(row.certificate)
    except certificates.Refused:
        return InstantKeyLine(row, tone, words, "", None, ends_soon=False)
    ends_soon = not row.retired_at and read.valid_until - now < ENDS_SOON
    return InstantKeyLine(row, tone, words, read.issuer, read.valid_until, ends_soon)
