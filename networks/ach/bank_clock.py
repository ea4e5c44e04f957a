"""The clock of the banks that take our files. It is ours.

The stand-in bank of a development copy is the exception: its banking days pass in seconds, and its
clock runs ahead (docs/stand-in-bank.md). It writes down by how much, in the file that the setting
ACH_BANK_CLOCK names. By its clock we then date what is in files and what is due between banks. The
rows of ours keep our own time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from networks import calendar

SECONDS_A_DAY = 86_400
# What the bank has handed out is fetched and read before it is said that nothing came.
FETCHED_WITHIN = timedelta(seconds=10)


@dataclass(frozen=True)
class Hurry:
    """How far the bank's clock is ahead of ours, and how long a banking day of it takes, in our
    time."""

    ahead: timedelta
    day: timedelta


def hurry() -> Hurry | None:
    """The stand-in's pace; None where the bank's clock is ours. Reads a small file."""
    if not settings.ACH_BANK_CLOCK:
        return None
    try:
        told = json.loads(Path(settings.ACH_BANK_CLOCK).read_bytes())
    except FileNotFoundError:
        return None
    return Hurry(
        ahead=timedelta(seconds=told["ahead_seconds"]), day=timedelta(seconds=told["day_seconds"])
    )


def at_bank(now: datetime) -> datetime:
    """What the bank's clock says at an instant of ours."""
    pace = hurry()
    return now + pace.ahead if pace else now


def shown(now: datetime) -> datetime | None:
    """What the bank's clock shows where that is not ours; else None."""
    pace = hurry()
    return now + pace.ahead if pace else None


def here(instant: datetime) -> datetime:
    """What our clock says when the bank's, which then is as far ahead as now, says `instant`."""
    pace = hurry()
    return instant - pace.ahead if pace else instant


def due_here(instant: datetime, now: datetime, *, until_heard: bool = False) -> datetime:
    """When, by our clock, the bank's will say `instant`; not before `now` if the bank hurries.
    `until_heard`: and what it said until then has reached us."""
    pace = hurry()
    if pace is None:
        return instant
    if not pace.day:
        return max(instant - pace.ahead, now)
    wait = max(_days_between(now + pace.ahead, instant), 0.0) * pace.day
    return now + wait + (FETCHED_WITHIN if until_heard else timedelta(0))


def _days_between(start: datetime, end: datetime) -> float:
    """Banking days from one instant to another, with the fraction that their times make."""
    here, there = start.astimezone(calendar.EASTERN), end.astimezone(calendar.EASTERN)
    day, whole = here.date(), 0
    while day < there.date():
        day = calendar.next_banking_day(day)
        whole += day <= there.date()
    return whole + (_seconds_of(there) - _seconds_of(here)) / SECONDS_A_DAY


def _seconds_of(moment: datetime) -> int:
    return moment.hour * 3600 + moment.minute * 60 + moment.second
