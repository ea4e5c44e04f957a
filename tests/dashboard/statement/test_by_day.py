"""Days of a list: those of New York, with names for the last two, also around midnight and when the
clocks change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import pytest

from common import days
from dashboard.statement.by_day import by_day


@dataclass(frozen=True)
class Line:
    at: datetime


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def labels(now: str, *instants: str) -> list[tuple[str, int]]:
    """(label, how many lines) of each day."""
    lines = [Line(utc(instant)) for instant in instants]
    return [(day.label, len(day.lines)) for day in by_day(lines, today=days.day_of(utc(now)))]


@pytest.mark.parametrize(
    ("now", "instant", "label"),
    [
        # Midnight in New York is 5 a.m. UTC in winter, and 4 a.m. in summer.
        ("2026-11-28 04:59", "2026-11-28 04:58", "Today"),
        ("2026-11-28 05:00", "2026-11-28 04:59", "Yesterday"),
        ("2026-11-28 05:00", "2026-11-27 04:59", "Nov 26"),
        ("2026-07-02 04:00", "2026-07-02 04:00", "Today"),
        ("2026-07-02 04:00", "2026-07-02 03:59", "Yesterday"),
        # November 1, 2026 has 25 hours: 24 hours before its last one it was November 1, too.
        ("2026-11-02 04:30", "2026-11-01 04:30", "Today"),
        ("2026-11-02 05:30", "2026-11-01 04:30", "Yesterday"),
        ("2026-11-02 05:30", "2026-11-01 03:30", "Oct 31"),
        # March 8, 2026 has 23: half past midnight less 24 hours is the day before yesterday.
        ("2026-03-09 04:30", "2026-03-08 05:30", "Yesterday"),
        ("2026-03-09 04:30", "2026-03-08 04:30", "Mar 7"),
        ("2026-03-08 05:30", "2026-03-08 04:30", "Yesterday"),
        # The last days of other years have their year, unless they have a name.
        ("2027-01-01 06:00", "2027-01-01 04:00", "Yesterday"),
        ("2027-01-01 06:00", "2026-12-31 04:00", "Dec 30, 2026"),
    ],
)
def test_a_day_is_named_by_the_calendar_of_new_york(now, instant, label):
    assert labels(now, instant) == [(label, 1)]


def test_lines_stand_under_their_day_in_their_order():
    assert labels(
        "2026-11-28 15:00",
        "2026-11-28 14:00",
        "2026-11-28 05:00",
        "2026-11-28 04:00",
        "2026-11-20 04:00",
    ) == [("Today", 2), ("Yesterday", 1), ("Nov 19", 1)]


def test_without_a_today_every_day_is_a_date():
    now = utc("2026-11-28 15:00")
    found = by_day([Line(now), Line(now - timedelta(days=1))])

    assert [(day.label, day.is_named, day.date) for day in found] == [
        ("Nov 28", False, date(2026, 11, 28)),
        ("Nov 27", False, date(2026, 11, 27)),
    ]
