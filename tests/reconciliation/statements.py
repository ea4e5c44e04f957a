"""Statements as the stand-in bank writes them, and a rail with an account that they are about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

from devstack.odfi import bai2, camt053
from devstack.odfi.statements import Posting, Statement
from devstack.odfi.terms import Terms
from networks.ach.inbound import storing
from networks.ach.models import InFile
from networks.ach.models.inbound import InFolder
from reconciliation import accounts, reading
from reconciliation.accounts import Opening
from reconciliation.models import StatementFormat
from tests.networks.ach.inbound.builders import RAIL

NOW = datetime(2026, 11, 28, 14, 0, tzinfo=UTC)
BANK = Terms()
NUMBER = BANK.settlement_account
MONDAY, TUESDAY, WEDNESDAY = date(2026, 11, 16), date(2026, 11, 17), date(2026, 11, 18)
THURSDAY, FRIDAY, NEXT_MONDAY = date(2026, 11, 19), date(2026, 11, 20), date(2026, 11, 23)
OPENING = 1_000_000  # cents, on Monday morning
# A type code of BAI2 for a credit of each kind, and one for a debit.
CODES = {
    "batch": ("166", "466"),
    "credit": ("142", "451"),
    "debit": ("142", "451"),
    "fee": ("398", "698"),
    "interest": ("354", "654"),
    "return": ("257", "557"),
    "reversal": ("252", "552"),
    "unknown": ("925", "965"),
}


def in_force(
    *, number=NUMBER, form=StatementFormat.BAI2, opened_on=MONDAY, cents=OPENING, rail=RAIL
):
    opening = Opening(rail=rail, number=number, format=form, opened_on=opened_on, cents=cents)
    return accounts.put_in_force(opening, reason="As the bank confirmed", by="ops", now=NOW)


def number_of(day, place):
    """The bank's own number of a line: it gives none twice."""
    return int(f"{day:%Y%m%d}{place:04}")


def said(day, *amounts, opening=OPENING, number=1):
    """A statement of a day with a line for each amount."""
    postings = tuple(
        Posting(
            number=number_of(day, place),
            at=NOW,
            kind="settlement",
            amount=amount,
            reference=f"REF{day:%d}{place}",
            text="ACH SETTLEMENT",
            return_code="",
        )
        for place, amount in enumerate(amounts, start=1)
    )
    return Statement(day, number, opening, opening + sum(amounts), postings)


def bai2_of(day, *amounts, opening=OPENING, at=NOW, account=NUMBER):
    terms = replace(BANK, settlement_account=account)
    return bai2.write(said(day, *amounts, opening=opening), terms, at=at)


def of_kinds(day, *lines, opening=OPENING):
    """A BAI2 statement of a day with a line for each kind and amount."""
    content = bai2_of(day, *(amount for _, amount in lines), opening=opening)
    for kind, amount in lines:
        plain, code = (CODES[each][amount < 0] for each in ("batch", kind))
        size = f",{abs(amount)},0,"
        content = content.replace(f"16,{plain}{size}".encode(), f"16,{code}{size}".encode(), 1)
    return content


def camt_of(day, *amounts, opening=OPENING):
    return camt053.write(said(day, *amounts, opening=opening), BANK, at=NOW)


def store(content, *, name="statement.txt", rail=RAIL, now=NOW):
    return storing.store(
        rail_id=rail, folder=InFolder.STATEMENTS, name=name, content=[content], now=now
    ).file


def take(content, *, now=NOW, **where):
    """Store a file and do what workers do; gives its row as it is then."""
    file = store(content, now=now, **where)
    reading.read_due(now=now)
    return InFile.objects.get(pk=file.pk)


def codes(file):
    return [fault["code"] for fault in InFile.objects.get(pk=file.pk).faults]
