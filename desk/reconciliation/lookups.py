"""Rows of reconciliation by what an address names."""

from __future__ import annotations

from datetime import date

from common.errors import NotFound
from reconciliation import accounts
from reconciliation.models import (
    BankStatement,
    BookedLine,
    Clearing,
    Match,
    SettlementAccount,
    StatementLine,
)


def account(rail: str) -> SettlementAccount:
    """The account in force of a rail. Raises NotFound."""
    account = accounts.current(rail) if "\0" not in rail else None
    if account is None:
        raise NotFound("This rail has no settlement account.")
    return account


def statement(rail: str, day: date) -> BankStatement | None:
    """The statement of a day, if it is here."""
    return BankStatement.objects.filter(account__rail=rail, last_day=day).first()


def line(line_id: int) -> StatementLine:
    """Raises NotFound."""
    rows = StatementLine.objects.select_related("statement__account")
    row = rows.filter(pk=line_id).first() if line_id < 2**63 else None
    if row is None:
        raise NotFound("There is no such line of a bank statement.")
    return row


def match(match_id: str) -> Match:
    """Raises NotFound."""
    row = Match.objects.filter(pk=match_id).first() if "\0" not in match_id else None
    if row is None:
        raise NotFound("There is no such match.")
    return row


def booked(booked_id: str) -> BookedLine:
    """Raises NotFound."""
    rows = BookedLine.objects.select_related("line__statement__account", "line__matched__match")
    row = rows.filter(pk=booked_id).first() if "\0" not in booked_id else None
    if row is None:
        raise NotFound("There is no such booked line.")
    return row


def clearing(clearing_id: str) -> Clearing:
    """Raises NotFound."""
    rows = Clearing.objects.select_related("booked__line__statement__account", "other")
    row = rows.filter(pk=clearing_id).first() if "\0" not in clearing_id else None
    if row is None:
        raise NotFound("There is no such proposal.")
    return row
