from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks.base import Method
from networks.calendar import EASTERN
from networks.sandbox.pace import Pace, due_times
from networks.sandbox.scripts import steps_for

FRIDAY_NOON = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)
NUMBERS = ["000123456789", "10001", "20010", "30001", "40003"]


def times(pace: Pace, number: str, *, method: Method = Method.ACH_DEBIT) -> list[datetime]:
    return due_times(steps_for(method, number), method=method, pace=pace, now=FRIDAY_NOON)


def eastern(moments: list[datetime]) -> list[str]:
    return [moment.astimezone(EASTERN).isoformat(" ", "minutes")[:16] for moment in moments]


def test_instant_is_all_at_once():
    assert times(Pace.INSTANT, "20010") == [FRIDAY_NOON] * 3


def test_seconds_is_a_second_apart():
    assert times(Pace.SECONDS, "20010") == [FRIDAY_NOON + timedelta(seconds=n) for n in (1, 2, 3)]


class TestBankingDays:
    def test_settles_when_the_return_window_has_passed(self):
        assert eastern(times(Pace.BANKING_DAYS, "000123456789")) == [
            "2026-11-20 14:30",  # the next window
            "2026-11-25 08:30",  # settled on Monday, two banking days on
        ]

    def test_returns_on_the_morning_after_settlement(self):
        assert eastern(times(Pace.BANKING_DAYS, "10001")) == [
            "2026-11-20 14:30",
            "2026-11-24 08:30",
        ]

    def test_returns_late_on_the_last_morning_that_the_rules_allow(self):
        assert eastern(times(Pace.BANKING_DAYS, "20010")) == [
            "2026-11-20 14:30",
            "2026-11-25 08:30",
            "2027-01-25 08:30",  # sixty days after 23 November are a Friday
        ]

    def test_takes_minutes_over_rtp(self):
        assert eastern(times(Pace.BANKING_DAYS, "000123456789", method=Method.RTP_REQUEST)) == [
            "2026-11-20 12:01",
            "2026-11-20 12:02",
        ]


@given(
    st.sampled_from(Pace),
    st.sampled_from(Method),
    st.sampled_from(NUMBERS),
    st.timedeltas(timedelta(0), timedelta(days=5 * 365)),
)
def test_no_step_is_before_the_one_that_causes_it(pace, method, number, later):
    steps, now = steps_for(method, number), FRIDAY_NOON + later

    moments = due_times(steps, method=method, pace=pace, now=now)

    assert len(moments) == len(steps)
    assert [now, *moments] == sorted([now, *moments])


@pytest.mark.parametrize("pace", Pace)
def test_nothing_is_due_for_an_instruction_that_stays_pending(pace):
    assert times(pace, "30001") == []
