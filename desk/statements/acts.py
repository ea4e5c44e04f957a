"""What people do about bank statements and our accounts, each with its line in the audit log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction

from common import crypto
from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from desk.proposals import asking
from networks.ach.inbound import storing
from networks.ach.inbound.storing import Stored
from networks.ach.models.inbound import InFolder
from networks.ach.models.proposals import ProposalKind
from networks.bank_statements import raw
from reconciliation import accounts
from reconciliation.accounts import Opening
from reconciliation.models import BankStatement, SettlementAccount, StatementLine

PROPOSES = "reconciliation.propose_settlementaccount"
APPROVES = "reconciliation.approve_settlementaccount"


@transaction.atomic
def propose_account(
    *, opening: Opening, reason: str, doer: Doer, now: datetime
) -> SettlementAccount:
    """Ask another person to put an account in force. Raises AccountRefused."""
    account = accounts.propose(opening, reason=reason, by=doer.name, now=now)
    _record("proposed", account, doer, now, reason)
    return account


@transaction.atomic
def approve_account(*, account: SettlementAccount, doer: Doer, now: datetime) -> None:
    """Raises AccountRefused, NotASecondPerson."""
    approved = accounts.approve(account.pk, by=doer.name, now=now)
    doers.require_second(doer, APPROVES, approved, proposes=PROPOSES)
    _record("approved", approved, doer, now)


@transaction.atomic
def reject_account(*, account: SettlementAccount, doer: Doer, now: datetime) -> None:
    """Raises AccountRefused."""
    _record("rejected", accounts.reject(account.pk, by=doer.name, now=now), doer, now)


@transaction.atomic
def put_in_force(*, opening: Opening, reason: str, doer: Doer, now: datetime) -> SettlementAccount:
    """By a command, at once. Raises AccountRefused."""
    account = accounts.put_in_force(opening, reason=reason, by=doer.name, now=now)
    _record("put_in_force", account, doer, now, reason)
    return account


@transaction.atomic
def upload(
    *, rail: str, name: str, content: Iterable[bytes], reason: str, doer: Doer, now: datetime
) -> Stored:
    """Keep a statement that a person has from the bank, and ask another person: it is not taken
    before. `content` lies in memory. Raises NotStorable, StaffRefusal."""
    stored = _store(rail, name, content, doer, now)
    _record_upload(stored, reason, doer, now)
    if stored.is_new:
        asking.propose(
            ProposalKind.TAKE_STATEMENT,
            rail=rail,
            subject=stored.file.pk,
            reason=reason,
            doer=doer,
            now=now,
        )
    return stored


def upload_alone(
    *, rail: str, name: str, content: Iterable[bytes], reason: str, doer: Doer, now: datetime
) -> Stored:
    """Keep a statement at an operator's word. A worker takes it. Raises NotStorable."""
    stored = _store(rail, name, content, doer, now, by_command=True)
    _record_upload(stored, reason, doer, now, alone=True)
    return stored


def record_of(line: StatementLine) -> str:
    """The record of the bank's file behind a line. Raises common.crypto.Undecryptable."""
    return raw.record(storing.Reader(line.statement.file), line.position)


@transaction.atomic
def reveal(*, line: StatementLine, doer: Doer, now: datetime) -> dict[str, Any]:
    """What a line says of people. Raises common.crypto.Undecryptable."""
    doers.record(
        doer,
        "statement_line.revealed",
        line.statement_id,
        now=now,
        position=line.position,
    )
    if not line.said_token:
        return {}
    said: dict[str, Any] = json.loads(
        crypto.decrypt(line.said_token, context=line.encryption_context)
    )
    return said


def found_statement(statement_id: str) -> BankStatement:
    """Raises NotFound."""
    rows = BankStatement.objects.select_related("account", "file", "follows")
    row = rows.filter(pk=statement_id).first() if "\0" not in statement_id else None
    if row is None:
        raise NotFound("There is no such bank statement.")
    return row


def found_account(account_id: str) -> SettlementAccount:
    """Raises NotFound."""
    rows = SettlementAccount.objects.filter(pk=account_id)
    row = rows.first() if "\0" not in account_id else None
    if row is None:
        raise NotFound("There is no such settlement account.")
    return row


def _store(
    rail: str,
    name: str,
    content: Iterable[bytes],
    doer: Doer,
    now: datetime,
    *,
    by_command: bool = False,
) -> Stored:
    return storing.store(
        rail_id=rail,
        folder=InFolder.STATEMENTS,
        name=name,
        content=content,
        uploaded_by=doer.name,
        by_command=by_command,
        now=now,
    )


def _record_upload(
    stored: Stored, reason: str, doer: Doer, now: datetime, **details: object
) -> None:
    doers.record(
        doer,
        "bank_statement.uploaded",
        stored.file.pk,
        now=now,
        note=reason,
        rail=stored.file.rail_id,
        sha256=stored.file.sha256,
        isNew=stored.is_new,
        **details,
    )


def _record(
    what: str, account: SettlementAccount, doer: Doer, now: datetime, note: str = ""
) -> None:
    doers.record(
        doer,
        f"settlement_account.{what}",
        account.pk,
        now=now,
        note=note,
        rail=account.rail_id,
        last4=account.last4,
        format=account.format,
        openedOn=account.opened_on.isoformat(),
        opening=account.opening,
    )
