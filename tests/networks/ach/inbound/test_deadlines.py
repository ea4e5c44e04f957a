"""Dates of RAILS § 7.2, computed there from the Federal Reserve's list of holidays."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from networks.ach.inbound import deadlines
from networks.ach.inbound.deadlines import TimeFrame, is_late, time_frame
from networks.return_codes import ALL

VECTORS = [
    # settled, ordinary returns, consumers' returns, reversal by, retry until
    ("2026-07-03", "2026-07-07", "2026-09-02", "2026-07-10", "2026-12-30"),
    ("2026-11-27", "2026-12-01", "2027-01-27", "2026-12-04", "2027-05-26"),
    ("2026-12-28", "2026-12-30", "2027-03-01", "2027-01-05", "2027-06-26"),
    ("2027-06-18", "2027-06-22", "2027-08-18", "2027-06-25", "2027-12-15"),
    ("2027-12-31", "2028-01-04", "2028-03-01", "2028-01-07", "2028-06-28"),
]
FRIDAY = date(2026, 7, 3)


@pytest.mark.parametrize(("settled", "ordinary", "consumer", "reversal", "retry"), VECTORS)
def test_dates_equal_those_of_the_fact_sheet(settled, ordinary, consumer, reversal, retry):
    day = date.fromisoformat(settled)

    assert deadlines.return_due("R01", day) == date.fromisoformat(ordinary)
    assert deadlines.return_due("R10", day) == date.fromisoformat(consumer)
    assert deadlines.reversal_due(day) == date.fromisoformat(reversal)
    assert deadlines.retry_due(day) == date.fromisoformat(retry)


class TestReturns:
    @pytest.mark.parametrize(
        ("code", "frame"),
        [
            ("R01", TimeFrame.TWO_BANKING_DAYS),
            ("R13", TimeFrame.TWO_BANKING_DAYS),
            ("R29", TimeFrame.TWO_BANKING_DAYS),
            ("R97", TimeFrame.TWO_BANKING_DAYS),
            ("R10", TimeFrame.SIXTY_DAYS),
            ("R06", TimeFrame.AGREED),
            ("R31", TimeFrame.AGREED),
        ],
    )
    def test_have_a_time_frame_by_their_code(self, code, frame):
        assert time_frame(code) is frame

    def test_of_every_known_code_have_one(self):
        assert {time_frame(code) for code in ALL} == set(TimeFrame)

    @pytest.mark.parametrize(
        ("code", "returned", "late"),
        [
            ("R01", date(2026, 7, 7), False),
            ("R01", date(2026, 7, 8), True),
            ("R10", date(2026, 9, 2), False),
            ("R10", date(2026, 9, 3), True),
            ("R06", date(2027, 7, 7), False),
        ],
    )
    def test_are_late_after_it(self, code, returned, late):
        assert is_late(code, settled=FRIDAY, returned=returned) is late

    def test_before_a_known_settlement_are_in_time(self):
        assert not is_late("R01", settled=None, returned=date(2030, 1, 1))


class TestAnswers:
    def test_dishonor_within_five_banking_days(self):
        assert deadlines.dishonor_due(date(2026, 11, 25)) == date(2026, 12, 3)

    def test_change_within_six_and_refuse_within_fifteen_calendar_days(self):
        assert deadlines.change_due(date(2026, 11, 25)) == date(2026, 12, 4)
        assert deadlines.refusal_due(date(2026, 11, 25)) == date(2026, 12, 10)

    def test_days_are_the_banks(self):
        late_on_thursday = datetime(2026, 11, 27, 4, 30, tzinfo=UTC)

        assert deadlines.eastern_day(late_on_thursday) == date(2026, 11, 26)
        assert deadlines.review_due(late_on_thursday) == date(2026, 11, 27)
