"""Whether a statement adds up: its lines against its balances and against the totals it states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from networks.bank_statements.amounts import SUM_MAX
from networks.bank_statements.faults import Fault, differs, fault
from networks.bank_statements.items import Heading, Purpose


class Stated(NamedTuple):
    """The totals that a statement gives of its lines: cents without a sign, and counts. None where
    it says nothing."""

    credits: int | None = None
    credit_count: int | None = None
    debits: int | None = None
    debit_count: int | None = None
    entries: int | None = None
    entry_count: int | None = None


class Tally:
    """What the lines add up to. `booked` is the change of the booked balance, in cents. A line of
    zero cents is neither a credit nor a debit; `zero_count` says how many there are."""

    def __init__(self) -> None:
        self.credits = self.debits = 0
        self.credit_count = self.debit_count = self.zero_count = 0
        self.booked = 0

    def add(self, amount: int, *, is_booked: bool) -> None:
        if amount < 0:
            self.debits -= amount
            self.debit_count += 1
        elif amount == 0:
            self.zero_count += 1
        else:
            self.credits += amount
            self.credit_count += 1
        if is_booked:
            self.booked += amount

    def found(self) -> Stated:
        return Stated(
            credits=self.credits,
            credit_count=self.credit_count,
            debits=self.debits,
            debit_count=self.debit_count,
            entries=self.credits + self.debits,
            entry_count=self.credit_count + self.debit_count,
        )


# By what a statement gives, what is wrong where the lines give something else.
_CODES = {
    "credits": "credits_wrong",
    "credit_count": "credit_count_wrong",
    "debits": "debits_wrong",
    "debit_count": "debit_count_wrong",
    "entries": "entries_wrong",
    "entry_count": "entry_count_wrong",
}
_COUNTS = frozenset({"credit_count", "debit_count", "entry_count"})


def of_heading(heading: Heading) -> Iterator[Fault]:
    """What is wrong with the days and the balances by themselves. A report may leave balances
    out."""
    for code in (*_wrong_days(heading), *_wrong_balances(heading)):
        yield fault(code, position=heading.position, statement=heading.number)


def _wrong_days(heading: Heading) -> Iterator[str]:
    if heading.from_date and heading.from_date > heading.to_date:
        yield "dates_reversed"


def _wrong_balances(heading: Heading) -> Iterator[str]:
    if heading.opening is None:
        if heading.purpose is Purpose.STATEMENT:
            yield "opening_missing"
    elif heading.opening < 0:
        yield "opening_negative"
    if heading.closing is None:
        if heading.purpose is Purpose.STATEMENT:
            yield "closing_missing"
    elif heading.closing < 0:
        yield "closing_negative"


def of_totals(heading: Heading, stated: Stated, tally: Tally, *, position: int) -> Iterator[Fault]:
    """What does not add up, told at `position`: where the statement ends."""
    where = {"position": position, "statement": heading.number}
    found = tally.found()
    if max(tally.credits, tally.debits) > SUM_MAX:
        yield fault("amount_invalid", position=position, statement=heading.number)
    for name, code in _CODES.items():
        said = getattr(stated, name)
        least = getattr(found, name)
        # Banks count a line of zero cents as either, or not at all.
        most = least + (tally.zero_count if name in _COUNTS else 0)
        if said is not None and not least <= said <= most:
            yield differs(code, said=said, found=least, **where)
    if heading.purpose is not Purpose.STATEMENT:
        return
    if heading.opening is not None and heading.closing is not None:
        sum_of_lines = heading.opening + tally.booked
        if sum_of_lines != heading.closing:
            yield differs("balance_wrong", said=heading.closing, found=sum_of_lines, **where)
