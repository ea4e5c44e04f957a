"""Writes lines of the operator's books that a bank statement gave the reason for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from balance import services as ledger
from balance.operator import lines
from balance.operator.accounts import PAIRS, OperatorAccount, Step
from balance.operator.posting import Booking
from reconciliation.models import ExpectedLine


class OwnLine(NamedTuple):
    """A line to write, of `amount` cents, on a day that is not closed. `source_id` is the id of the
    row that causes it; one row causes one line."""

    step: Step
    amount: int
    source_id: str
    day: date | None


def write(given: Sequence[OwnLine], *, rail: str, source_type: str, now: datetime) -> Sequence[int]:
    """Write these lines to the books; returns their ids, in the order given.

    Those that move `settlement` are expected at once, on their day; any other one may go without a
    day. The rail's account is row-locked by the caller, so that nobody takes the lines meanwhile.
    """
    bookings = [
        Booking(each.step, each.amount, rail, source_type, each.source_id, None, each.day)
        for each in given
    ]
    ledger.book(bookings, now=now)
    ids = lines.ids_of(source_type=source_type, source_ids=[each.source_id for each in given])
    written = [ids[each.source_id] for each in given]
    ExpectedLine.objects.bulk_create(
        ExpectedLine(
            line=line,
            rail_id=rail,
            step=each.step,
            amount=sign * each.amount,
            counts_on=each.day,
            taken_at=now,
        )
        for line, each in zip(written, given, strict=True)
        if each.day and (sign := PAIRS[each.step].sign(OperatorAccount.SETTLEMENT))
    )
    return written
