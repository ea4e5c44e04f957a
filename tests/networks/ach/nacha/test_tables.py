"""Tables of codes, and dates: each against another source."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks import return_codes, routing
from networks.ach.nacha import codes, dates, entries
from networks.ach.nacha.validator import tables


def test_return_codes_are_those_that_we_have_words_for():
    known = codes.RETURN_CODES | codes.DISHONORED_CODES | codes.CONTESTED_CODES

    assert known == {code for code in return_codes.ALL if return_codes.is_ach_return(code)}


@pytest.mark.parametrize(
    ("ours", "word"),
    [
        (codes.DEBITS, tables.DEBIT),
        (codes.CREDITS, tables.CREDIT),
        (codes.RETURNS, tables.RETURNED),
        (codes.LIVE, tables.LIVE),
    ],
)
def test_transaction_codes_are_those_of_the_validator(ours, word):
    assert ours == {int(code) for code, words in tables.TRANSACTION_CODES.items() if word in words}


def test_a_returned_debit_counts_as_a_debit():
    assert {26, 36} < codes.DEBITS
    assert {21, 31} < codes.CREDITS


@pytest.mark.parametrize("bank", ["021000021", "091000022", "322271627", "099900001"])
def test_check_digits_are_the_abas(bank):
    assert entries.check_digit(bank[:8]) == bank[8]
    assert tables.has_check_digit(bank)


@given(st.integers(0, 10**9 - 1).map("{:09d}".format))
def test_check_digits_are_judged_alike_everywhere(nine):
    right = entries.check_digit(nine[:8]) == nine[8]

    assert tables.has_check_digit(nine) == right
    if tables.is_bank(nine[:8]):
        assert routing.validate(nine) == right


class TestSettlementDate:
    @pytest.mark.parametrize(
        ("day_of_year", "near", "expected"),
        [
            (329, "2026-11-24", "2026-11-25"),
            (365, "2027-01-04", "2026-12-31"),
            (1, "2026-12-30", "2027-01-01"),
            (4, "2026-12-31", "2027-01-04"),
            (366, "2029-01-02", "2028-12-31"),
            (366, "2027-12-30", "2028-12-31"),
            (60, "2028-03-01", "2028-02-29"),
            (60, "2027-03-01", "2027-03-01"),
        ],
    )
    def test_is_the_nearest_one_over_new_year_too(self, day_of_year, near, expected):
        found = dates.settlement_date(day_of_year, date.fromisoformat(near))

        assert found.isoformat() == expected

    @pytest.mark.parametrize("day_of_year", [0, 367, 366])
    def test_of_no_year_is_refused(self, day_of_year):
        with pytest.raises(ValueError, match="no year around 2026"):
            dates.settlement_date(day_of_year, date(2026, 6, 1))

    @given(st.dates(date(2001, 1, 1), date(2098, 12, 31)), st.integers(-180, 180))
    def test_is_the_day_itself_for_half_a_year_around(self, day, offset):
        near = day + timedelta(days=offset)

        assert dates.settlement_date(day.timetuple().tm_yday, near) == day
