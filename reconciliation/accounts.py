"""Our accounts behind the rails. One person proposes an account, another one puts it in force; an
operator's command does both. The caller writes the audit log.

A rail has one account at a time. It begins anew where its number or its format changes or its
balance was agreed on wrongly: after the last statement, once that is closed and nothing is in
transit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet

from common import crypto
from common.database.constraints import violated
from networks import spellings
from networks.ach.models import AchRail, InFile
from networks.ach.models.inbound import InFolder
from networks.ach.states import InFileStatus
from networks.bank_details import last4
from networks.instant.models import InstantRail
from reconciliation import anew, judging
from reconciliation.errors import AccountRefused
from reconciliation.models import (
    BankStatement,
    ExpectedLine,
    SettlementAccount,
    StatementFormat,
)
from reconciliation.reasons import checked
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
    """The rail's account by the one of these numbers that it has. Row-locked until the transaction
    ends, so that one file after the other is judged."""
    account = lock(rail)
    if account is None:
        return {}
    return {number: account for number in numbers if account.fingerprint in fingerprints(number)}


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
    _lock(rail)
    # An account that begins anew meanwhile was put in force under these locks: only a second look
    # sees it.
    return current(rail)


def number_of(account: SettlementAccount) -> str:
    """The whole number at the bank. Raises common.crypto.Undecryptable."""
    return crypto.decrypt(account.number_token, context=account.encryption_context)


def has_any(rail: str) -> bool:
    """Whether statements of this rail are read."""
    return SettlementAccount.objects.filter(rail_id=rail, status=AccountStatus.CURRENT).exists()


def fingerprints(number: str) -> tuple[str, ...]:
    """What an account number is called under each key, the newest first."""
    return crypto.fingerprints(spellings.canonical(number), purpose="reconciliation.account")


def _account(opening: Opening, *, reason: str, by: str, now: datetime) -> SettlementAccount:
    number = spellings.canonical(opening.number)
    if not number.isascii() or not number.isalnum() or len(number) > NUMBER_LENGTH_MAX:
        raise AccountRefused(f"An account number has 1 to {NUMBER_LENGTH_MAX} letters and digits.")
    if opening.cents < 0:
        raise AccountRefused("An account does not begin overdrawn: begin with a later day.")
    _require_rail(opening.rail, now)
    account = SettlementAccount(
        rail_id=opening.rail,
        fingerprint=fingerprints(number)[0],
        last4=last4(number),
        format=opening.format,
        opened_on=opening.opened_on,
        opening=opening.cents,
        reason=checked(reason, AccountRefused),
        proposed_by=by,
        proposed_at=now,
    )
    account.number_token = crypto.encrypt(number, context=account.encryption_context)
    return account


def _require_rail(name: str, now: datetime) -> None:
    """Statements lie beside a bank's other files, so an instant rail gets a row there. Raises
    AccountRefused."""
    if AchRail.objects.filter(pk=name).exists():
        return
    if "\0" in name or not InstantRail.objects.filter(pk=name).exists():
        raise AccountRefused("There is no such rail.")
    AchRail.objects.get_or_create(name=name, defaults={"created_at": now})


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
    """Raises AccountRefused unless everything of the rail's accounts before is at its end: a line
    would count twice, or never."""
    _lock(account.rail_id)
    day = f"{account.opened_on:%B %-d, %Y}"
    rows = SettlementAccount.objects.filter(rail=account.rail_id, status=AccountStatus.CURRENT)
    first = rows.exclude(pk=account.pk).order_by("opened_on").first()
    if first and account.opened_on < first.opened_on:
        raise AccountRefused(
            f"The rail's first account begins with {first.opened_on:%B %-d, %Y}, and nothing before"
            " is expected of the bank: begin with that day, or a later one."
        )
    statements = BankStatement.objects.filter(account__rail=account.rail_id)
    last = statements.order_by("-last_day").first()
    if last and last.last_day >= account.opened_on:
        raise AccountRefused(f"Statements up to {last.last_day:%B %-d, %Y} were taken already.")
    if still_open := statements.filter(closed_day=None).order_by("last_day").first():
        raise AccountRefused(f"{still_open.last_day:%B %-d, %Y} is not closed: close it first.")
    if count := _in_transit(account).count():
        lines = "1 line" if count == 1 else f"{count:,} lines"
        raise AccountRefused(
            f"As {day} begins, {lines} of the books would be in transit. Let a statement show what"
            " is, or begin with another day."
        )


def _in_transit(account: SettlementAccount) -> QuerySet[ExpectedLine]:
    """What the books and the bank count on different sides of an account's first day."""
    first = account.opened_on
    late = Q(counts_on__lt=first) & (Q(match=None) | Q(match__day__gte=first))
    early = Q(counts_on__gte=first, match__day__lt=first)
    return ExpectedLine.objects.filter(late | early, rail=account.rail_id)


def _lock(rail: str) -> None:
    """Row-lock the accounts in force in the order of their ids."""
    rows = SettlementAccount.objects.filter(rail_id=rail, status=AccountStatus.CURRENT)
    list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk"))


def _wake(rail: str, now: datetime) -> None:
    """Have statements read that came before the account. A worker that looks at one just now loses
    its lease, and so cannot put it off."""
    anew.read_anew(rail, judging.UNKNOWN, now=now)
    InFile.objects.filter(
        rail_id=rail, folder=InFolder.STATEMENTS, status=InFileStatus.STORED
    ).update(next_attempt_at=now, leased_until=None, lease_version=F("lease_version") + 1)
