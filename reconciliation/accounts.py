"""Our accounts behind the rails. One person proposes an account, another one puts it in force; an
operator's command does both. An account begins anew, after its last statement, where its format
changes or its balance was agreed on wrongly. The caller writes the audit log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from common import crypto
from common.database.constraints import violated
from networks import spellings
from networks.ach.models import AchRail, InFile
from networks.ach.models.columns import REASON_LENGTH_MAX
from networks.ach.models.inbound import InFolder
from networks.ach.states import InFileStatus
from networks.bank_details import last4
from reconciliation.errors import AccountRefused
from reconciliation.models import BankStatement, SettlementAccount, StatementFormat
from reconciliation.states import ACCOUNT_STATES, AccountStatus

NUMBER_LENGTH_MAX = 34


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What is agreed of an account: its number at the bank, in what format the bank tells of it,
    and how many cents lay there when its first day began."""

    rail: str
    number: str
    format: StatementFormat
    opened_on: date
    cents: int


def propose(opening: Opening, *, reason: str, by: str, now: datetime) -> SettlementAccount:
    """Ask another person. No statement is taken before. Raises AccountRefused."""
    return _insert(_account(opening, reason=reason, by=by, now=now))


@transaction.atomic
def put_in_force(opening: Opening, *, reason: str, by: str, now: datetime) -> SettlementAccount:
    """At an operator's word, without another person. Raises AccountRefused."""
    account = _account(opening, reason=reason, by=by, now=now)
    _require_after_all(account)
    account.by_command = True
    account.status, account.decided_by, account.decided_at = AccountStatus.CURRENT, by, now
    _insert(account)
    _wake(account.rail_id, now)
    return account


@transaction.atomic
def approve(account_id: str, *, by: str, now: datetime) -> SettlementAccount:
    """Put it in force; statements that wait for it are read. Raises AccountRefused."""
    account = _decide(account_id, AccountStatus.CURRENT, by, now)
    _require_after_all(account)
    _wake(account.rail_id, now)
    return account


@transaction.atomic
def reject(account_id: str, *, by: str, now: datetime) -> SettlementAccount:
    """Raises AccountRefused."""
    return _decide(account_id, AccountStatus.REJECTED, by, now)


def of_numbers(rail: str, numbers: Iterable[str]) -> dict[str, SettlementAccount]:
    """The accounts in force with these numbers, row-locked in the order of their ids with those
    that were in force before, so that one file after the other is judged. In a transaction."""
    names = {name: number for number in numbers for name in fingerprints(number)}
    rows = SettlementAccount.objects.filter(
        rail_id=rail, status=AccountStatus.CURRENT, fingerprint__in=list(names)
    )
    _lock(rows)
    # An account that begins anew meanwhile was put in force under these locks: only a second look
    # sees it.
    by_age = sorted(rows.all(), key=lambda row: (row.decided_at, row.pk))
    return {names[row.fingerprint]: row for row in by_age}


def in_force() -> list[SettlementAccount]:
    """The account of each rail that has one: the last one that was put in force."""
    rows = SettlementAccount.objects.filter(status=AccountStatus.CURRENT)
    return list(rows.order_by("rail_id", "-decided_at", "-pk").distinct("rail_id"))


def current(rail: str) -> SettlementAccount | None:
    """The account of a rail: the last one that was put in force."""
    rows = SettlementAccount.objects.filter(rail_id=rail, status=AccountStatus.CURRENT)
    return rows.order_by("decided_at", "pk").last()


def lock(rail: str) -> SettlementAccount | None:
    """The account of a rail, with all of the rail's accounts row-locked until the transaction ends.
    Whoever takes, matches, books or clears lines of a rail, or closes its day, does it first."""
    rows = SettlementAccount.objects.filter(rail_id=rail, status=AccountStatus.CURRENT)
    locked = list(rows.order_by("pk").select_for_update(no_key=True))
    return max(locked, key=lambda row: (row.decided_at, row.pk), default=None)


def has_any(rail: str) -> bool:
    """Whether statements of this rail are read."""
    return SettlementAccount.objects.filter(rail_id=rail, status=AccountStatus.CURRENT).exists()


def fingerprints(number: str) -> tuple[str, ...]:
    """What an account number is called under each key, the newest first."""
    return crypto.fingerprints(spellings.canonical(number), purpose="reconciliation.account")


def _account(opening: Opening, *, reason: str, by: str, now: datetime) -> SettlementAccount:
    number, text = spellings.canonical(opening.number), reason.strip()
    if not number.isascii() or not number.isalnum() or len(number) > NUMBER_LENGTH_MAX:
        raise AccountRefused(f"An account number has 1 to {NUMBER_LENGTH_MAX} letters and digits.")
    if opening.cents < 0:
        raise AccountRefused("An account does not begin overdrawn: begin with a later day.")
    if not 1 <= len(text) <= REASON_LENGTH_MAX:
        raise AccountRefused(f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.")
    if not AchRail.objects.filter(pk=opening.rail).exists():
        raise AccountRefused("There is no such rail.")
    account = SettlementAccount(
        rail_id=opening.rail,
        fingerprint=fingerprints(number)[0],
        last4=last4(number),
        format=opening.format,
        opened_on=opening.opened_on,
        opening=opening.cents,
        reason=text,
        proposed_by=by,
        proposed_at=now,
    )
    account.number_token = crypto.encrypt(number, context=account.encryption_context)
    return account


def _insert(account: SettlementAccount) -> SettlementAccount:
    try:
        with transaction.atomic():
            account.save(force_insert=True)
    except IntegrityError as error:
        if violated(error) != "one_proposed_settlement_account":
            raise
        raise AccountRefused("This account waits for a second person already.") from error
    return account


def _decide(account_id: str, status: AccountStatus, by: str, now: datetime) -> SettlementAccount:
    rows = SettlementAccount.objects.select_for_update(no_key=True)
    account = rows.filter(pk=account_id).first() if "\0" not in account_id else None
    if account is None:
        raise AccountRefused("There is no such settlement account.")
    if not account.is_open:
        raise AccountRefused("Somebody has decided about it already.")
    if account.proposed_by == by:
        raise AccountRefused("You proposed it, so somebody else decides.")
    ACCOUNT_STATES.advance(account, status, decided_by=by, decided_at=now)
    return account


def _require_after_all(account: SettlementAccount) -> None:
    """Raises AccountRefused if a statement of this number was taken for the account's first day or
    a later one: its lines would count twice."""
    number = crypto.decrypt(account.number_token, context=account.encryption_context)
    before = SettlementAccount.objects.filter(
        rail_id=account.rail_id, fingerprint__in=fingerprints(number)
    )
    ids = _lock(before)
    last = BankStatement.objects.filter(account__in=ids).order_by("-last_day").first()
    if last and last.last_day >= account.opened_on:
        raise AccountRefused(f"Statements up to {last.last_day:%B %-d, %Y} were taken already.")


def _lock(rows: QuerySet[SettlementAccount]) -> list[str]:
    """Row-lock accounts in the order of their ids, which are returned."""
    return [row.pk for row in rows.order_by("pk").select_for_update(no_key=True)]


def _wake(rail: str, now: datetime) -> None:
    """Have statements read that came while the rail had no account. A worker that looks at one just
    now loses its lease, and so cannot put it off."""
    InFile.objects.filter(
        rail_id=rail, folder=InFolder.STATEMENTS, status=InFileStatus.STORED
    ).update(next_attempt_at=now, leased_until=None, lease_version=F("lease_version") + 1)
