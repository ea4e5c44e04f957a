"""Writes lines of the operator's books that a bank statement gave the reason for."""

from __future__ import annotations

from datetime import date, datetime

from balance import services as ledger
from balance.operator import lines
from balance.operator.accounts import PAIRS, OperatorAccount, Step
from balance.operator.posting import Booking
from reconciliation.models import ExpectedLine


def write(
    step: Step, amount: int, *, rail: str, source: tuple[str, str], day: date | None, now: datetime
) -> int:
    """Book `amount` cents on a day that is not closed; returns the line's id.

    `source` is the type and the id of the row that causes it. A line that moves `settlement` is
    expected at once, on `day`; any other one may go without a day. The rail's account is row-locked
    by the caller, so that nobody takes the line meanwhile.
    """
    source_type, source_id = source
    sign = PAIRS[step].sign(OperatorAccount.SETTLEMENT)
    booking = Booking(step, amount, rail, source_type, source_id, None, day)
    ledger.book([booking], now=now)
    line = lines.id_of(source_type=source_type, source_id=source_id, step=step)
    if sign and day:
        ExpectedLine.objects.create(
            line=line,
            rail_id=rail,
            step=step,
            amount=sign * amount,
            counts_on=day,
            taken_at=now,
        )
    return line
