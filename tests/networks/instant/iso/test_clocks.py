"""Moments and days: offsets, weekends, the hour that comes twice, and the one that never comes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks.instant.iso.clocks import moment_of, text_of
from networks.instant.iso.profiles import FEDNOW, RTP

MOMENTS = st.integers(
    int(datetime(2020, 1, 1, tzinfo=UTC).timestamp()),
    int(datetime(2099, 1, 1, tzinfo=UTC).timestamp()),
).map(lambda seconds: datetime.fromtimestamp(seconds, tz=UTC))
FALL = date(2026, 11, 1)  # the clocks go back at 02:00


def at(day: date, hour: int, minute: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)


class TestMoments:
    def test_are_eastern_with_an_offset_or_without(self):
        assert text_of(at(FALL, 5, 30), RTP) == "2026-11-01T01:30:00"
        assert text_of(at(FALL, 5, 30), FEDNOW) == "2026-11-01T01:30:00-04:00"
        assert text_of(at(FALL, 6, 30), FEDNOW) == "2026-11-01T01:30:00-05:00"

    @given(MOMENTS)
    def test_with_an_offset_are_read_as_they_were_written(self, moment):
        assert moment_of(text_of(moment, FEDNOW), FEDNOW) == moment.replace(microsecond=0)

    @given(MOMENTS)
    def test_without_an_offset_are_off_by_the_hour_that_comes_twice_at_most(self, moment):
        written = text_of(moment, RTP)
        late_by = moment.replace(microsecond=0) - moment_of(written, RTP)

        assert late_by in (timedelta(), timedelta(hours=1))
        assert text_of(moment_of(written, RTP), RTP) == written
        assert not late_by or moment.month == 11

    def test_of_the_hour_that_comes_twice_are_the_first(self):
        assert moment_of("2026-11-01T01:30:00", RTP) == at(FALL, 5, 30)

    def test_of_the_hour_that_never_comes_are_none(self):
        with pytest.raises(ValueError, match="went forward"):
            moment_of("2027-03-14T02:30:00", RTP)

    def test_with_a_fraction_are_read(self):
        assert moment_of("2026-11-28T21:00:00.25-05:00", FEDNOW) == datetime(
            2026, 11, 29, 2, 0, 0, 250_000, tzinfo=UTC
        )

    @pytest.mark.parametrize(
        ("text", "profile"),
        [
            ("2026-11-28T21:00:00-05:00", RTP),
            ("2026-11-28T21:00:00Z", RTP),
            ("2026-11-28T21:00:00", FEDNOW),
            ("2026-11-28", RTP),
            ("2026-11-28T21:00", RTP),
            ("2026-02-30T21:00:00", RTP),
            ("20261128T210000", RTP),
            ("", RTP),
        ],
    )
    def test_in_another_form_are_none(self, text, profile):
        with pytest.raises(ValueError, match=r"form|day is out of range|Invalid isoformat"):
            moment_of(text, profile)


class TestDays:
    @pytest.mark.parametrize(
        ("moment", "rtp", "fednow"),
        [
            (datetime(2026, 11, 28, 23, 59, 59, tzinfo=UTC), "2026-11-28", "2026-11-28"),
            (datetime(2026, 11, 29, 0, 0, tzinfo=UTC), "2026-11-28", "2026-11-29"),  # 19:00
            (datetime(2026, 11, 29, 4, 59, 59, tzinfo=UTC), "2026-11-28", "2026-11-29"),
            (datetime(2026, 11, 29, 5, 0, tzinfo=UTC), "2026-11-29", "2026-11-29"),
            (datetime(2026, 7, 4, 22, 59, tzinfo=UTC), "2026-07-04", "2026-07-04"),  # in summer
            (datetime(2026, 7, 4, 23, 0, tzinfo=UTC), "2026-07-04", "2026-07-05"),
            (datetime(2027, 1, 1, 1, 0, tzinfo=UTC), "2026-12-31", "2027-01-01"),
        ],
    )
    def test_end_at_midnight_or_at_seven_weekends_and_holidays_as_well(self, moment, rtp, fednow):
        assert RTP.settlement_date(moment) == date.fromisoformat(rtp)
        assert FEDNOW.settlement_date(moment) == date.fromisoformat(fednow)

    def test_what_is_pending_ends_with_the_banking_day(self):
        assert FEDNOW.pending_until(date(2026, 11, 30)) == at(date(2026, 12, 1), 5)
        assert FEDNOW.pending_until(date(2026, 10, 30)) == at(date(2026, 10, 31), 4)
