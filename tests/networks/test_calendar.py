from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import holidays
import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks import calendar, schemes
from networks.calendar import EASTERN

CUTOFFS = [cutoff.at for cutoff in schemes.USUAL_CUTOFFS]
# The weekdays on which the Reserve Banks are closed, as their own K.8 list prints them.
CLOSED = {
    2026: "01-01 01-19 02-16 05-25 06-19 09-07 10-12 11-11 11-26 12-25",
    2027: "01-01 01-18 02-15 05-31 07-05 09-06 10-11 11-11 11-25",
    2028: "01-17 02-21 05-29 06-19 07-04 09-04 10-09 11-23 12-25",
    2029: "01-01 01-15 02-19 05-28 06-19 07-04 09-03 10-08 11-12 11-22 12-25",
    2030: "01-01 01-21 02-18 05-27 06-19 07-04 09-02 10-14 11-11 11-28 12-25",
}
CLOSED_DAYS = {
    date.fromisoformat(f"{year}-{day}") for year, days in CLOSED.items() for day in days.split()
}
EVERY_DAY = [date(2026, 1, 1) + timedelta(days=n) for n in range(5 * 365 + 1)]

days = st.dates(date(2022, 1, 1), date(2060, 12, 31))
instants = st.timedeltas(timedelta(0), timedelta(days=38 * 365)).map(
    lambda age: datetime(2022, 1, 1, tzinfo=UTC) + age
)


def eastern(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=EASTERN)


class TestBankingDays:
    def test_equal_the_published_table_on_every_day_of_five_years(self):
        assert EVERY_DAY[-1] == date(2030, 12, 31)

        differing = [
            day
            for day in EVERY_DAY
            if calendar.is_banking_day(day) != (day.weekday() < 5 and day not in CLOSED_DAYS)
        ]

        assert differing == []

    def test_equal_the_calendar_of_others_for_twenty_years(self):
        """On every day: the first Juneteenth, in 2021, was a Saturday."""
        federal_reserve = holidays.financial_holidays("XFED", years=range(2021, 2041))
        days = [date(2021, 1, 1) + timedelta(days=n) for n in range(20 * 365 + 5)]
        assert days[-1] == date(2040, 12, 31)

        differing = [
            day
            for day in days
            if calendar.is_banking_day(day) != (day.weekday() < 5 and day not in federal_reserve)
        ]

        assert differing == []

    @pytest.mark.parametrize(
        "friday", ["2026-07-03", "2027-06-18", "2027-12-24", "2027-12-31", "2028-11-10"]
    )
    def test_are_open_on_the_friday_before_a_saturday_holiday(self, friday):
        assert calendar.is_banking_day(date.fromisoformat(friday))

    @pytest.mark.parametrize("monday", ["2027-07-05", "2029-11-12", "2023-01-02", "2033-12-26"])
    def test_are_closed_on_the_monday_after_a_sunday_holiday(self, monday):
        assert not calendar.is_banking_day(date.fromisoformat(monday))

    @pytest.mark.parametrize(
        ("day", "count", "expected"),
        [
            ("2026-11-20", 1, "2026-11-23"),  # over a weekend
            ("2026-11-25", 1, "2026-11-27"),  # over Thanksgiving
            ("2026-12-31", 1, "2027-01-04"),  # over New Year and a weekend
            ("2026-11-21", 1, "2026-11-23"),  # from a Saturday
            ("2028-02-28", 2, "2028-03-01"),  # over a leap day
            ("2026-11-21", 0, "2026-11-21"),
            ("2026-01-02", 251, "2027-01-04"),
        ],
    )
    def test_are_counted_over_weekends_and_holidays(self, day, count, expected):
        assert calendar.add_banking_days(date.fromisoformat(day), count) == date.fromisoformat(
            expected
        )

    def test_are_not_counted_backwards(self):
        with pytest.raises(ValueError, match="forward only"):
            calendar.add_banking_days(date(2026, 11, 20), -1)

    @given(days)
    def test_next_is_later_open_and_skips_only_closed_days(self, day):
        following = calendar.next_banking_day(day)

        between = [day + timedelta(days=n) for n in range(1, (following - day).days)]
        assert following > day
        assert calendar.is_banking_day(following)
        assert not any(calendar.is_banking_day(skipped) for skipped in between)
        assert len(between) <= 3

    @given(days, st.integers(0, 30), st.integers(0, 30))
    def test_add_up(self, day, first, second):
        there = calendar.add_banking_days(calendar.add_banking_days(day, first), second)

        assert there == calendar.add_banking_days(day, first + second)

    @given(days)
    def test_stay_put_on_an_open_day(self, day):
        here = calendar.banking_day_from(day)

        assert here == (day if calendar.is_banking_day(day) else calendar.next_banking_day(day))

    @given(st.integers(2022, 2100))
    def test_lose_nine_to_eleven_a_year_to_holidays(self, year):
        closed = calendar.holidays(year)

        assert 9 <= len(closed) <= 11
        assert {day.weekday() for day in closed} <= {0, 1, 2, 3, 4}


class TestDeadlines:
    # Computed by hand from the K.8 list: processed, settled, ordinary and unauthorized return due.
    @pytest.mark.parametrize(
        ("processed", "settled", "ordinary", "unauthorized"),
        [
            ("2026-07-02", "2026-07-03", "2026-07-07", "2026-09-02"),
            ("2026-11-25", "2026-11-27", "2026-12-01", "2027-01-27"),
            ("2026-12-24", "2026-12-28", "2026-12-30", "2027-03-01"),
            ("2027-06-17", "2027-06-18", "2027-06-22", "2027-08-18"),
            ("2027-12-30", "2027-12-31", "2028-01-04", "2028-03-01"),
        ],
    )
    def test_follow_from_the_processing_day(self, processed, settled, ordinary, unauthorized):
        noon = eastern(f"{processed}T12:00")

        settlement = calendar.settlement_date(noon, CUTOFFS)

        assert settlement.isoformat() == settled
        assert calendar.return_due_date(settlement).isoformat() == ordinary
        assert calendar.unauthorized_return_due_date(settlement).isoformat() == unauthorized
        assert schemes.ACH_DEBIT.expected_on(noon).isoformat() == ordinary

    # By the same list: day of the year, live entries after a prenote, reversals, retries.
    @pytest.mark.parametrize(
        ("settled", "day_of_year", "live_from", "reversal_by", "retry_until"),
        [
            ("2026-07-03", 184, "2026-07-08", "2026-07-10", "2026-12-30"),
            ("2026-11-27", 331, "2026-12-02", "2026-12-04", "2027-05-26"),
            ("2026-12-28", 362, "2026-12-31", "2027-01-05", "2027-06-26"),
            ("2027-06-18", 169, "2027-06-23", "2027-06-25", "2027-12-15"),
            ("2027-12-31", 365, "2028-01-05", "2028-01-07", "2028-06-28"),
        ],
    )
    def test_of_other_rules_are_counted_in_the_same_days(
        self, settled, day_of_year, live_from, reversal_by, retry_until
    ):
        settlement = date.fromisoformat(settled)

        assert settlement.timetuple().tm_yday == day_of_year
        assert calendar.add_banking_days(settlement, 3).isoformat() == live_from
        assert calendar.add_banking_days(settlement, 5).isoformat() == reversal_by
        assert (settlement + timedelta(days=180)).isoformat() == retry_until

    @given(days)
    def test_unauthorized_returns_have_more_than_sixty_days(self, settled):
        due = calendar.unauthorized_return_due_date(settled)

        assert 61 <= (due - settled).days <= 64
        assert calendar.is_banking_day(due)

    def test_a_dishonor_is_contested_within_two_banking_days(self):
        assert calendar.contest_due_date(date(2026, 11, 25)) == date(2026, 11, 30)


class TestCutOffs:
    @pytest.mark.parametrize(
        ("now", "window"),
        [
            ("2026-11-20T00:00", "2026-11-20T10:15"),
            ("2026-11-20T10:14:59", "2026-11-20T10:15"),
            ("2026-11-20T10:15", "2026-11-20T14:30"),  # too late to the second
            ("2026-11-20T18:00", "2026-11-20T19:45"),
            ("2026-11-20T22:29:59", "2026-11-20T22:30"),
            ("2026-11-20T22:30", "2026-11-23T10:15"),  # a Friday night
            ("2026-11-21T12:00", "2026-11-23T10:15"),
            ("2026-11-26T09:00", "2026-11-27T10:15"),  # Thanksgiving
            ("2026-12-31T23:00", "2027-01-04T10:15"),
        ],
    )
    def test_next_is_the_first_open_cut_off(self, now, window):
        assert calendar.next_cutoff(eastern(now), CUTOFFS) == eastern(window)

    def test_are_judged_in_eastern_time_wherever_the_caller_is(self):
        thursday_late_in_los_angeles = datetime.fromisoformat("2026-11-19T21:30:00-08:00")

        assert calendar.banking_date(thursday_late_in_los_angeles, CUTOFFS) == date(2026, 11, 20)

    def test_move_with_daylight_saving(self):
        friday, monday = eastern("2026-10-30T01:00"), eastern("2026-11-02T01:00")

        assert calendar.next_cutoff(friday, CUTOFFS).isoformat() == "2026-10-30T14:15:00+00:00"
        assert calendar.next_cutoff(monday, CUTOFFS).isoformat() == "2026-11-02T15:15:00+00:00"

    @pytest.mark.parametrize(("sunday", "utc_hour"), [("2026-11-01", 15), ("2027-03-14", 14)])
    def test_open_on_the_monday_after_the_clocks_change_in_every_minute(self, sunday, utc_hour):
        midnight = eastern(f"{sunday}T00:00").astimezone(UTC)
        monday = date.fromisoformat(sunday) + timedelta(days=1)
        expected = datetime(monday.year, monday.month, monday.day, utc_hour, 15, tzinfo=UTC)
        length = {11: 25, 3: 23}[monday.month]

        minutes = [midnight + timedelta(minutes=n) for n in range(length * 60)]

        assert {calendar.next_cutoff(minute, CUTOFFS) for minute in minutes} == {expected}

    @given(instants)
    def test_next_is_later_on_an_open_day_and_at_most_four_days_off(self, now):
        window = calendar.next_cutoff(now, CUTOFFS)

        local = window.astimezone(EASTERN)
        assert timedelta(0) < window - now <= timedelta(days=4, hours=12)
        assert local.time() in CUTOFFS
        assert calendar.banking_date(now, CUTOFFS) == local.date()
        assert calendar.is_banking_day(local.date())

    @given(instants, st.timedeltas(timedelta(0), timedelta(days=40)))
    def test_never_run_backwards(self, now, later):
        assert calendar.next_cutoff(now, CUTOFFS) <= calendar.next_cutoff(now + later, CUTOFFS)

    def test_need_a_time_zone(self):
        with pytest.raises(ValueError, match="time zone"):
            calendar.next_cutoff(eastern("2026-11-20T12:00").replace(tzinfo=None), CUTOFFS)


class TestExpectedAvailability:
    @pytest.mark.parametrize(
        ("now", "expected"),
        [
            ("2026-11-20T12:00", "2026-11-25"),  # Friday: settles Monday, two days on
            ("2026-11-20T22:30", "2026-11-27"),  # after the last cut-off: a day later
            ("2026-11-24T12:00", "2026-11-30"),  # Thanksgiving within the window
            ("2026-12-31T12:00", "2027-01-06"),
        ],
    )
    def test_of_ach_is_the_end_of_the_return_window(self, now, expected):
        assert schemes.ACH_DEBIT.expected_on(eastern(now)).isoformat() == expected

    @pytest.mark.parametrize(
        ("now", "expected"),
        [
            ("2026-11-20T23:59", "2026-11-20"),
            ("2026-11-21T12:00", "2026-11-23"),
            ("2026-11-26T12:00", "2026-11-27"),
        ],
    )
    def test_of_rtp_is_the_same_day_or_the_next_banking_day(self, now, expected):
        assert schemes.INSTANT.expected_on(eastern(now)).isoformat() == expected

    @given(st.sampled_from([schemes.ACH_DEBIT, schemes.ACH_CREDIT, schemes.INSTANT]), instants)
    def test_is_a_banking_day_not_in_the_past(self, terms, now):
        expected = terms.expected_on(now)

        assert calendar.is_banking_day(expected)
        assert expected >= now.astimezone(EASTERN).date()


@pytest.mark.parametrize(
    ("day", "utc"), [("2026-10-30", "12:30"), ("2026-11-02", "13:30"), ("2027-03-15", "12:30")]
)
def test_business_opens_at_half_past_eight_eastern(day, utc):
    opening = calendar.opening_of_business(date.fromisoformat(day))

    assert opening.isoformat() == f"{day}T{utc}:00+00:00"
