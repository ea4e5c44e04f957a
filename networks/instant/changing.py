"""New terms of an instant rail: proposed by one person, agreed to by another; a command needs one
alone.

People are opaque text; whoever calls writes the audit log.
"""

from __future__ import annotations

import re
from datetime import datetime

from django.db import IntegrityError, transaction

from common import crypto
from common.errors import StaffRefusal
from networks.columns import REASON_LENGTH_MAX
from networks.instant import lines
from networks.instant.iso.profiles import PROFILES
from networks.instant.models import InstantLine, InstantRail, InstantVersion
from networks.instant.models.rails import ProfileName
from networks.instant.states import VERSION_STATES, VersionStatus
from networks.instant.terms import Connection, RailTerms
from networks.rails.models import Rail, RailKind

ACCOUNT_LENGTH_MAX = 34  # what a message holds
DRIVER = "instant"  # what networks.rails calls the code of this package
RAIL_NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")


class ChangeRefused(StaffRefusal):
    code = "instant_change_refused"
    title = "The rail was not changed"
    advice = "Read the rail again: somebody may have changed it, or decided about this change."


@transaction.atomic
def open_rail(
    *, name: str, profile: ProfileName | None, kind: RailKind | None, now: datetime
) -> InstantRail:
    """The rail of this name, made with its line if it is not there: then `profile` says to which
    network, and `kind` whether money moves on it. It does nothing without terms, and nobody uses it
    without a route. Raises ChangeRefused."""
    known = InstantRail.objects.filter(pk=name).first()
    if known is not None:
        return known
    if profile is None or kind is None:
        raise ChangeRefused("Say which network it is (rtp or fednow), and real or stand_in.")
    if not RAIL_NAME.fullmatch(name):
        raise ChangeRefused("A name has up to 16 small letters, digits and _, a letter first.")
    if Rail.objects.filter(pk=name).exclude(driver=DRIVER, kind=kind).exists():
        raise ChangeRefused("A rail of another kind has this name.")
    Rail.objects.get_or_create(
        name=name, defaults={"kind": kind, "driver": DRIVER, "created_at": now}
    )
    made = InstantRail.objects.create(name=name, profile=profile, created_at=now)
    InstantLine.objects.create(rail=made, next_attempt_at=now)
    return made


@transaction.atomic
def propose(
    *,
    rail: InstantRail,
    terms: RailTerms,
    account: str = "",
    by: str,
    reason: str,
    now: datetime,
) -> InstantVersion:
    """Write down terms for another person to decide about. `account` is the number of our own
    account there; empty keeps the present one. Raises ChangeRefused."""
    return _write(rail, terms, account, by, reason, now, by_command=False)


@transaction.atomic
def approve(*, version_id: str, by: str, now: datetime) -> InstantVersion:
    """Put proposed terms in force. Raises ChangeRefused."""
    version = _of_somebody_else(version_id, by)
    return _put_in_force(version, by, now)


@transaction.atomic
def reject(*, version_id: str, by: str, now: datetime) -> InstantVersion:
    """Close a proposal of somebody else. Raises ChangeRefused."""
    version = _of_somebody_else(version_id, by)
    VERSION_STATES.advance(version, VersionStatus.REJECTED, decided_by=by, decided_at=now)
    return version


@transaction.atomic
def withdraw(*, version_id: str, by: str, now: datetime) -> InstantVersion:
    """Close a proposal of one's own. Raises ChangeRefused."""
    version = _proposed(version_id)
    if version.proposed_by != by:
        raise ChangeRefused("Somebody else proposed it: reject it.")
    VERSION_STATES.advance(version, VersionStatus.WITHDRAWN, decided_by=by, decided_at=now)
    return version


@transaction.atomic
def change_alone(
    *,
    rail: InstantRail,
    terms: RailTerms,
    account: str = "",
    by: str,
    reason: str,
    now: datetime,
) -> InstantVersion:
    """Terms in force at once, by the word of one operator: for commands. Raises ChangeRefused."""
    version = _write(rail, terms, account, by, reason, now, by_command=True)
    return _put_in_force(version, by, now)


def _write(
    rail: InstantRail,
    terms: RailTerms,
    account: str,
    by: str,
    reason: str,
    now: datetime,
    *,
    by_command: bool,
) -> InstantVersion:
    _require_participant(rail, terms)
    _require_line_of_its_own(rail, terms)
    before = _current(rail.pk)
    number = _account(before, account)
    if before is not None and (before.terms, before.account) == (terms.as_json(), number):
        raise ChangeRefused("These are the terms in force.")
    version = InstantVersion(
        rail=rail,
        number=_next_number(rail.pk),
        terms=terms.as_json(),
        status=VersionStatus.PROPOSED,
        by_command=by_command,
        proposed_by=by,
        proposed_at=now,
        reason=_said(reason),
    )
    version.account_token = crypto.encrypt(number, context=version.encryption_context)
    try:
        with transaction.atomic():
            version.save(force_insert=True)
    except IntegrityError as error:
        raise ChangeRefused(
            "Another change waits for a decision: decide about it first."
        ) from error
    return version


def _require_participant(rail: InstantRail, terms: RailTerms) -> None:
    length = PROFILES[rail.profile].participant_length
    if len(terms.participant) != length:
        raise ChangeRefused(
            f"A participant of {rail.get_profile_display()} is called by {length} characters."
        )


def _require_line_of_its_own(rail: InstantRail, terms: RailTerms) -> None:
    """Two rails at one mailbox take each other's messages; and what sandbox tenants make up must
    never go where money moves."""
    there = InstantVersion.objects.filter(
        status__in=(VersionStatus.CURRENT, VersionStatus.PROPOSED),
        terms__participant=terms.participant,
        **_address(terms.connection),
    )
    if (found := there.exclude(rail=rail).first()) is not None:
        raise ChangeRefused(f"{found.rail_id} takes the messages of this participant there.")


def _address(line: Connection) -> dict[str, str]:
    if line.folder:
        return {"terms__connection__folder": line.folder}
    return {"terms__connection__base_url__iexact": line.base_url}


def _account(before: InstantVersion | None, given: str) -> str:
    number = given.strip() or (before.account if before else "")
    if not (number.isascii() and number.isalnum() and len(number) <= ACCOUNT_LENGTH_MAX):
        raise ChangeRefused(
            f"Give our own account there: 1 to {ACCOUNT_LENGTH_MAX} letters and digits."
        )
    return number


def _next_number(rail: str) -> int:
    newest = InstantVersion.objects.filter(rail_id=rail).order_by("-number").first()
    return newest.number + 1 if newest else 1


def _proposed(version_id: str) -> InstantVersion:
    """An open proposal, locked."""
    rows = InstantVersion.objects.select_for_update(no_key=True)
    version = rows.filter(pk=version_id, status=VersionStatus.PROPOSED).first()
    if version is None:
        raise ChangeRefused("This change does not wait for a decision.")
    return version


def _of_somebody_else(version_id: str, by: str) -> InstantVersion:
    version = _proposed(version_id)
    if version.proposed_by == by:
        raise ChangeRefused("You proposed it, so somebody else decides.")
    return version


def _current(rail: str) -> InstantVersion | None:
    """The version in force, locked."""
    rows = InstantVersion.objects.select_for_update(no_key=True)
    return rows.filter(rail_id=rail, status=VersionStatus.CURRENT).first()


def _put_in_force(version: InstantVersion, by: str, now: datetime) -> InstantVersion:
    if (before := _current(version.rail_id)) is not None:
        VERSION_STATES.advance(before, VersionStatus.SUPERSEDED, superseded_at=now)
    VERSION_STATES.advance(version, VersionStatus.CURRENT, decided_by=by, decided_at=now)
    lines.try_again(version.rail_id, now=now)
    return version


def _said(reason: str) -> str:
    if not 1 <= len(text := reason.strip()) <= REASON_LENGTH_MAX:
        raise ChangeRefused(f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.")
    return text
