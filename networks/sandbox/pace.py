"""How fast the sandbox bank moves: the time of every step is fixed when an instruction is taken
over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from networks import calendar
from networks.base import EventKind, Method
from networks.sandbox.scripts import Step
from networks.sandbox.terms import CUTOFFS


class Pace(StrEnum):
    """The values of the setting SANDBOX_PACE."""

    INSTANT = "instant"  # everything at once, still in order
    SECONDS = "seconds"
    BANKING_DAYS = "banking_days"  # the real calendar; RTP in minutes


BETWEEN_STEPS = MappingProxyType(
    {
        Pace.INSTANT: timedelta(0),
        Pace.SECONDS: timedelta(seconds=1),
        Pace.BANKING_DAYS: timedelta(minutes=1),
    }
)


def due_times(
    steps: Sequence[Step], *, method: Method, pace: Pace, now: datetime
) -> list[datetime]:
    """When each step happens, never earlier than the one before it."""
    if pace is Pace.BANKING_DAYS and method.is_ach:
        return _ach_times(steps, now=now)
    return [now + BETWEEN_STEPS[pace] * position for position in range(1, len(steps) + 1)]


def _ach_times(steps: Sequence[Step], *, now: datetime) -> list[datetime]:
    cutoffs = [cutoff.at for cutoff in CUTOFFS]
    settled = calendar.settlement_date(now, cutoffs)
    kinds = [step.kind for step in steps]
    return [
        calendar.next_cutoff(now, cutoffs)
        if kind is EventKind.ACCEPTED
        else calendar.opening_of_business(
            _reported_on(kind, settled=settled, is_late=EventKind.FINAL in kinds[:position])
        )
        for position, kind in enumerate(kinds)
    ]


def _reported_on(kind: EventKind, *, settled: date, is_late: bool) -> date:
    """The banking day at whose opening the news arrives.

    A late return takes all the time that the rules allow: the worst case for money already spent.
    """
    if kind is EventKind.FINAL:
        return calendar.return_due_date(settled)
    if is_late:
        return calendar.unauthorized_return_due_date(settled)
    return calendar.next_banking_day(settled)
