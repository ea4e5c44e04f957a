"""What a bank posts and says of it, as the stand-in bank writes it."""

from __future__ import annotations

from typing import NamedTuple

from devstack.odfi import bai2
from devstack.odfi.statements import Posting, Statement
from reconciliation.models import Match
from tests.reconciliation.statements import BANK, MONDAY, NOW, OPENING, number_of, take
from tests.reconciliation.transfers import bank_lines


class Posted(NamedTuple):
    """One posting: a sum of entries unless it says otherwise. `number` is the bank's, which gives
    none twice unless it makes a mistake."""

    amount: int
    reference: str = ""
    kind: str = "settlement"
    number: int = 0


def content_of(*posted: Posted, day=MONDAY, opening=OPENING) -> bytes:
    """The statement of a day, as BAI2."""
    postings = tuple(
        Posting(
            number=each.number or number_of(day, place),
            at=NOW,
            kind=each.kind,
            amount=each.amount,
            reference=each.reference,
            text="",
            return_code="R01" if each.kind == "return" else "",
        )
        for place, each in enumerate(posted, start=1)
    )
    closing = opening + sum(each.amount for each in posted)
    said: bytes = bai2.write(Statement(day, day.day, opening, closing, postings), BANK, at=NOW)
    return said


def state(*posted: Posted, day=MONDAY, opening=OPENING) -> list[int]:
    """Take the statement of a day; gives the ids of its lines."""
    file = take(content_of(*posted, day=day, opening=opening), name=f"{day}.txt")
    assert file.status == "applied", file.faults
    return bank_lines(day)


def matched():
    """What is matched: rule, the bank's amounts and the books' amounts of each match."""
    return sorted(
        (
            match.rule,
            sorted(match.of_bank.values_list("line__amount", flat=True)),
            sorted(match.of_books.values_list("amount", flat=True)),
        )
        for match in Match.objects.all()
    )
