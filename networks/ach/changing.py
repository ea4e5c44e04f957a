"""New terms of a rail: proposed by one person, agreed to by another; a command needs one alone.

People are opaque text; whoever calls writes the audit log.
"""

from __future__ import annotations

import re
from datetime import datetime

from django.db import IntegrityError, transaction

from common import crypto
from common.engine.lookups import one_of
from common.errors import StaffRefusal
from networks.ach.connection_terms import Connection
from networks.ach.inbound import lines
from networks.ach.models import AchRail, RailVersion
from networks.ach.models.columns import REASON_LENGTH_MAX
from networks.ach.states import VERSION_STATES, VersionStatus
from networks.ach.terms import Offset, RailTerms
from networks.rails.models import Rail, RailKind

OFFSET_ACCOUNT_LENGTH_MAX = 17
DRIVER = "ach"  # what networks.rails calls the code of this package
RAIL_NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")


class ChangeRefused(StaffRefusal):
    code = "rail_change_refused"
    title = "The rail was not changed"
    advice = "Read the rail again: somebody may have changed it, or decided about this change."


@transaction.atomic
def open_rail(*, name: str, kind: RailKind | None, now: datetime) -> AchRail:
    """The rail of this name, made if it is not there: then `kind` says whether money moves on it.
    It does nothing without terms, and nobody uses it without a route. Raises ChangeRefused."""
    known = AchRail.objects.filter(pk=name).first()
    if known is not None:
        return known
    if kind is None:
        raise ChangeRefused("Say whether money moves on it: real or stand_in.")
    if not RAIL_NAME.fullmatch(name):
        raise ChangeRefused("A name has up to 16 small letters, digits and _, a letter first.")
    if Rail.objects.filter(pk=name).exclude(driver=DRIVER, kind=kind).exists():
        raise ChangeRefused("A rail of another kind has this name.")
    Rail.objects.get_or_create(
        name=name, defaults={"kind": kind, "driver": DRIVER, "created_at": now}
    )
    return AchRail.objects.create(name=name, created_at=now)


@transaction.atomic
def propose(
    *,
    rail: str,
    terms: RailTerms,
    offset_account: str | None = None,
    by: str,
    reason: str,
    now: datetime,
) -> RailVersion:
    """Write down terms for another person to decide about. `offset_account` None keeps the
    present one. Raises ChangeRefused."""
    return _write(rail, terms, offset_account, by, reason, now, by_command=False)


@transaction.atomic
def approve(*, version_id: str, by: str, now: datetime) -> RailVersion:
    """Put proposed terms in force. Raises ChangeRefused."""
    version = _proposed(version_id, by)
    before = _locked(version.rail_id, VersionStatus.CURRENT)
    if before is not None and before.number > version.number:
        raise ChangeRefused("The terms were changed since. Reject this and propose it again.")
    return _put_in_force(version, before, by, now)


@transaction.atomic
def reject(*, version_id: str, by: str, now: datetime) -> RailVersion:
    """Close a proposal. Raises ChangeRefused."""
    version = _proposed(version_id, by)
    VERSION_STATES.advance(version, VersionStatus.REJECTED, decided_by=by, decided_at=now)
    return version


@transaction.atomic
def change_alone(
    *,
    rail: str,
    terms: RailTerms,
    offset_account: str | None = None,
    by: str,
    reason: str,
    now: datetime,
) -> RailVersion:
    """Terms in force at once, by the word of one operator: for commands. Raises ChangeRefused."""
    version = _write(rail, terms, offset_account, by, reason, now, by_command=True)
    return _put_in_force(version, _locked(rail, VersionStatus.CURRENT), by, now)


def _write(
    rail: str,
    terms: RailTerms,
    offset_account: str | None,
    by: str,
    reason: str,
    now: datetime,
    *,
    by_command: bool,
) -> RailVersion:
    _require_bank_of_its_kind(rail, terms.connection)
    before = _locked(rail, VersionStatus.CURRENT)
    account = _account(terms, before, offset_account)
    if before is not None and before.terms == terms.as_json() and account == before.offset_account:
        raise ChangeRefused("These are the terms in force.")
    version = RailVersion(
        rail_id=rail,
        number=_next_number(rail),
        terms=terms.as_json(),
        status=VersionStatus.PROPOSED,
        by_command=by_command,
        proposed_by=by,
        proposed_at=now,
        reason=_said(reason),
    )
    if account:
        version.offset_account_token = crypto.encrypt(account, context=version.encryption_context)
    try:
        with transaction.atomic():
            version.save(force_insert=True)
    except IntegrityError as error:
        raise ChangeRefused(
            "Another change waits for a decision: decide about it first."
        ) from error
    return version


def _require_bank_of_its_kind(rail: str, line: Connection) -> None:
    """A stand-in's rail carries what sandbox tenants make up: it must not sign in where a real one
    does."""
    kinds = dict(Rail.objects.values_list("name", "kind"))
    others = [name for name, kind in kinds.items() if kind != kinds.get(rail, kind)]
    there = RailVersion.objects.filter(
        one_of("rail_id", others),
        status__in=(VersionStatus.CURRENT, VersionStatus.PROPOSED),
        terms__connection__host__iexact=line.host,
        terms__connection__port=line.port,
        terms__connection__user=line.user,
    )
    if line.host and (found := there.first()) is not None:
        raise ChangeRefused(
            f"{found.rail_id} signs in there, and money moves on one of the two rails only."
        )


def _account(terms: RailTerms, before: RailVersion | None, given: str | None) -> str:
    """Our own account at the bank, which only balanced files name."""
    if terms.offset != Offset.BALANCED:
        return ""
    account = (before.offset_account if before else "") if given is None else given.strip()
    fits = account.isascii() and account.isalnum() and len(account) <= OFFSET_ACCOUNT_LENGTH_MAX
    if not fits:
        raise ChangeRefused("Balanced files need our own account: 1 to 17 letters and digits.")
    return account


def _next_number(rail: str) -> int:
    newest = RailVersion.objects.filter(rail_id=rail).order_by("-number").first()
    return newest.number + 1 if newest else 1


def _proposed(version_id: str, by: str) -> RailVersion:
    """An open proposal of somebody else, locked."""
    rows = RailVersion.objects.select_for_update(no_key=True)
    version = rows.filter(pk=version_id).first()
    if version is None or version.status != VersionStatus.PROPOSED:
        raise ChangeRefused("This change does not wait for a decision.")
    if version.proposed_by == by:
        raise ChangeRefused("You proposed it, so somebody else decides.")
    return version


def _locked(rail: str, status: VersionStatus) -> RailVersion | None:
    rows = RailVersion.objects.select_for_update(no_key=True)
    return rows.filter(rail_id=rail, status=status).first()


def _put_in_force(
    version: RailVersion, before: RailVersion | None, by: str, now: datetime
) -> RailVersion:
    if before is not None:
        VERSION_STATES.advance(before, VersionStatus.SUPERSEDED, superseded_at=now)
    VERSION_STATES.advance(version, VersionStatus.CURRENT, decided_by=by, decided_at=now)
    lines.try_again(version.rail_id, now=now)
    return version


def _said(reason: str) -> str:
    if not 1 <= len(text := reason.strip()) <= REASON_LENGTH_MAX:
        raise ChangeRefused(f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.")
    return text
