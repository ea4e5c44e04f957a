"""The terms of the schemes themselves, whichever network gives access to them.

The amount field of an ACH entry has ten digits; RTP and FedNow stop at ten million dollars. When
files leave is each rail's own; `USUAL_CUTOFFS` hold where no rail says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from networks import calendar
from networks.base import Cutoff, Expectation, MethodTerms, Speed

_ACH_AMOUNT_MAX = 9_999_999_999
# A debit that came back for want of funds may be tried again (Nacha Operating Rules, 2.12.4): so
# often, so many calendar days after the first one settled.
RETRIED = frozenset(("R01", "R09"))
RETRIES_MAX = 2
RETRY_WITHIN = timedelta(days=180)
# 15 minutes before each deadline of FedACH.
USUAL_CUTOFFS = tuple(
    map(Cutoff, (time(10, 15), time(14, 30), time(16, 30), time(19, 45), time(22, 30)))
)


def ach_debit(cutoffs: Sequence[Cutoff], *, same_day_max: int = 0) -> MethodTerms:
    """Money of a debit can be relied on when the ordinary return window is over."""
    settled = _settlement(cutoffs)
    return _ach(
        cutoffs,
        same_day_max,
        lambda now, speed=Speed.STANDARD: calendar.return_due_date(settled(now, speed)),
    )


def ach_credit(cutoffs: Sequence[Cutoff], *, same_day_max: int = 0) -> MethodTerms:
    """Money of a credit has arrived when it settles."""
    return _ach(cutoffs, same_day_max, _settlement(cutoffs))


def _ach(cutoffs: Sequence[Cutoff], same_day_max: int, expected_on: Expectation) -> MethodTerms:
    return MethodTerms(
        amount_max=_ACH_AMOUNT_MAX,
        cutoffs=tuple(cutoffs),
        same_day_max=same_day_max,
        expected_on=expected_on,
    )


def _settlement(cutoffs: Sequence[Cutoff]) -> Expectation:
    """The banking day on which an entry settles. One that is too late for every same-day file of
    its day goes at the usual speed."""
    all_day = [cutoff.at for cutoff in cutoffs]
    same_day = [cutoff.at for cutoff in cutoffs if cutoff.same_day]

    def settles_on(now: datetime, speed: Speed = Speed.STANDARD) -> date:
        fast = same_day if speed is Speed.SAME_DAY else ()
        return calendar.settlement_date(now, all_day, same_day=fast)

    return settles_on


def _at_once(now: datetime, speed: Speed = Speed.STANDARD) -> date:
    """No speed is faster."""
    return calendar.instant_availability(now)


ACH_DEBIT = ach_debit(USUAL_CUTOFFS)
ACH_CREDIT = ach_credit(USUAL_CUTOFFS)
INSTANT = MethodTerms(amount_max=1_000_000_000, expected_on=_at_once)
