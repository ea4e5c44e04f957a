"""Banking days, windows, settlement: by the published list of holidays, not by our own rule."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from devstack.odfi import calendar
from devstack.odfi.clock import BadMove, target, waiting_seconds
from tests.devstack.odfi.paper import Batch, Entry, File

# The Reserve Banks' list: the weekdays on which they are closed.
CLOSED = {
    2026: "01-01 01-19 02-16 05-25 06-19 09-07 10-12 11-11 11-26 12-25",
    2027: "01-01 01-18 02-15 05-31 07-05 09-06 10-11 11-11 11-25",
    2028: "01-17 02-21 05-29 06-19 07-04 09-04 10-09 11-23 12-25",
    2029: "01-01 01-15 02-19 05-28 06-19 07-04 09-03 10-08 11-12 11-22 12-25",
    2030: "01-01 01-21 02-18 05-27 06-19 07-04 09-02 10-14 11-11 11-28 12-25",
}


def eastern(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=calendar.EASTERN)


class TestBankingDays:
    @pytest.mark.parametrize("year", CLOSED)
    def test_are_those_of_the_reserve_banks(self, year):
        days = (date(year, 1, 1) + timedelta(days=offset) for offset in range(365))
        closed = [day for day in days if day.weekday() < 5 and not calendar.is_open(day)]

        assert [f"{day:%m-%d}" for day in closed] == CLOSED[year].split()

    @pytest.mark.parametrize(
        ("processed", "settles", "two_days", "sixty_days"),
        [
            ("2026-07-02", "2026-07-03", "2026-07-07", "2026-09-02"),
            ("2026-11-25", "2026-11-27", "2026-12-01", "2027-01-27"),
            ("2026-12-24", "2026-12-28", "2026-12-30", "2027-03-01"),
            ("2027-06-17", "2027-06-18", "2027-06-22", "2027-08-18"),
            ("2027-12-30", "2027-12-31", "2028-01-04", "2028-03-01"),
        ],
    )
    def test_decide_when_returns_are_due(self, processed, settles, two_days, sixty_days):
        settled = calendar.next_open(date.fromisoformat(processed))

        assert settled == date.fromisoformat(settles)
        assert calendar.plus(settled, 2) == date.fromisoformat(two_days)
        assert calendar.consumer_limit(settled) == date.fromisoformat(sixty_days)
        assert calendar.banking_days_between(settled, date.fromisoformat(two_days)) == 2


class TestSettlement:
    @pytest.mark.parametrize(
        ("received", "effective", "settles"),
        [
            ("2026-11-24 10:14", None, "2026-11-25 08:30"),
            ("2026-11-24 10:14", "2026-11-24", "2026-11-24 13:00"),
            ("2026-11-24 10:15", "2026-11-24", "2026-11-24 17:00"),
            ("2026-11-24 16:29", "2026-11-24", "2026-11-24 18:00"),
            ("2026-11-24 16:30", "2026-11-24", "2026-11-25 08:30"),
            ("2026-11-24 22:29", "2026-11-25", "2026-11-25 08:30"),
            ("2026-11-24 22:30", "2026-11-25", "2026-11-25 13:00"),
            ("2026-11-24 22:30", None, "2026-11-27 08:30"),
            ("2026-11-21 12:00", None, "2026-11-24 08:30"),
            ("2026-11-24 09:00", "2026-11-20", "2026-11-25 08:30"),
            ("2026-11-24 09:00", "2026-11-26", "2026-11-27 08:30"),
        ],
    )
    def test_follows_the_window_and_the_effective_date(self, received, effective, settles):
        day, window = calendar.processing(eastern(received))
        wanted = date.fromisoformat(effective) if effective else None

        found = calendar.settlement(day, window, wanted, same_day_allowed=True)

        assert found == eastern(settles)

    def test_is_the_next_day_for_amounts_over_the_same_day_limit(self):
        day, window = calendar.processing(eastern("2026-11-24 09:00"))

        found = calendar.settlement(day, window, day, same_day_allowed=False)

        assert found == eastern("2026-11-25 08:30")

    @pytest.mark.parametrize(
        ("effective", "debit", "credit"),
        [
            ("2026-11-24", False, False),
            ("2026-11-25", False, False),
            ("2026-11-26", True, False),  # Thanksgiving: the 27th
            ("2026-11-30", True, True),
        ],
    )
    def test_is_not_held_for_dates_far_ahead(self, effective, debit, credit):
        processed, wanted = date(2026, 11, 24), date.fromisoformat(effective)

        assert calendar.is_too_late(processed, wanted, is_debit=True) is debit
        assert calendar.is_too_late(processed, wanted, is_debit=False) is credit

    def test_is_written_as_the_day_of_the_year(self):
        assert [calendar.julian(date(2028, *day)) for day in ((1, 1), (12, 31))] == ["001", "366"]


class TestPace:
    def test_is_the_real_one(self):
        now = eastern("2026-11-24 10:00")

        assert waiting_seconds(now, eastern("2026-11-24 10:01"), 0) == 60
        assert waiting_seconds(now, eastern("2026-11-24 09:59"), 0) == 0

    def test_may_let_a_banking_day_pass_in_seconds(self):
        friday = eastern("2026-11-20 08:30")

        assert waiting_seconds(friday, eastern("2026-11-23 08:30"), 5) == 5
        assert waiting_seconds(friday, eastern("2026-11-20 20:30"), 5) == 2.5

    def test_of_a_hurrying_bank_brings_the_return_in_seconds(self, bank):
        bank.ask("terms", day_seconds=0.5)
        bank.deliver("a.ach", File([Batch([Entry("10001")])]).bytes())

        bank.wait_for(lambda: bank.names("inbound") != [])
        bank.wait_for(lambda: not bank.ask("status")["has_work"])

        assert bank.ask("status")["eastern"] < "2035-12-07"
        assert bank.balance == 100_000_000


class TestMoves:
    def test_go_forward_only(self):
        now = eastern("2026-11-24 10:00")

        assert target(now, banking_days=2) == eastern("2026-11-27 10:00")
        with pytest.raises(BadMove):
            target(now, to="2026-11-24T09:00:00-05:00")
        with pytest.raises(BadMove):
            target(now, to="2026-11-24T11:00:00")

    def test_stay_after_a_restart(self, bank):
        bank.days(10)
        before = bank.ask("status")["now"]
        bank.end()
        bank.start()

        assert bank.ask("status")["now"] > before

    def test_may_go_to_what_is_due_next(self, bank):
        bank.send(File().bytes())
        bank.ask("clock", next=True)
        bank.ask("clock", next=True)

        assert bank.ask("status")["eastern"].startswith("2035-12-04T08:30:00")
        assert bank.balance == 100_012_345
