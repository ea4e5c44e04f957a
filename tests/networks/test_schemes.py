from __future__ import annotations

from datetime import datetime, time

import pytest
from hypothesis import given

from networks import calendar, schemes
from networks.base import Cutoff, Speed
from networks.calendar import EASTERN
from tests.networks.test_calendar import instants

# Two files of the day settle on it; the last one does not.
CUTOFFS = (
    Cutoff(time(10, 15), same_day=True),
    Cutoff(time(14, 30), same_day=True),
    Cutoff(time(20, 0)),
)
CREDIT = schemes.ach_credit(CUTOFFS, same_day_max=100_000_000)
DEBIT = schemes.ach_debit(CUTOFFS, same_day_max=100_000_000)


def eastern(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=EASTERN)


@pytest.mark.parametrize(
    ("now", "same_day", "standard"),
    [
        ("2026-11-20T10:00", "2026-11-20", "2026-11-23"),
        ("2026-11-20T10:15", "2026-11-20", "2026-11-23"),  # the second file
        ("2026-11-20T14:29:59", "2026-11-20", "2026-11-23"),
        ("2026-11-20T14:30", "2026-11-23", "2026-11-23"),  # too late: the usual way
        ("2026-11-20T19:59", "2026-11-23", "2026-11-23"),
        ("2026-11-20T20:00", "2026-11-23", "2026-11-24"),  # Monday's first file
        ("2026-11-21T12:00", "2026-11-23", "2026-11-24"),
        ("2026-11-25T21:00", "2026-11-27", "2026-11-30"),  # over Thanksgiving
    ],
)
def test_an_entry_settles_on_the_day_of_a_same_day_file_or_the_banking_day_after(
    now, same_day, standard
):
    assert CREDIT.expected_on(eastern(now), Speed.SAME_DAY).isoformat() == same_day
    assert CREDIT.expected_on(eastern(now)).isoformat() == standard


@pytest.mark.parametrize(
    ("now", "same_day", "standard"),
    [
        ("2026-11-20T10:00", "2026-11-24", "2026-11-25"),
        ("2026-11-20T20:00", "2026-11-25", "2026-11-27"),
    ],
)
def test_a_debit_is_reliable_two_banking_days_after_it_settled(now, same_day, standard):
    assert DEBIT.expected_on(eastern(now), Speed.SAME_DAY).isoformat() == same_day
    assert DEBIT.expected_on(eastern(now)).isoformat() == standard


@given(instants)
def test_the_same_day_is_never_later_and_nobody_without_such_files_is_faster(now):
    for fast, usual in ((CREDIT, schemes.ACH_CREDIT), (DEBIT, schemes.ACH_DEBIT)):
        assert fast.expected_on(now, Speed.SAME_DAY) <= fast.expected_on(now)
        assert usual.expected_on(now, Speed.SAME_DAY) == usual.expected_on(now)
    assert calendar.is_banking_day(CREDIT.expected_on(now, Speed.SAME_DAY))
    assert schemes.INSTANT.expected_on(now, Speed.SAME_DAY) == schemes.INSTANT.expected_on(now)
