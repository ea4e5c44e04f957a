from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from networks import routing

REAL = ["021000021", "026009593", "121000358", "256074974", "322271627", "011000015", "091000022"]
KNOWN = sorted(routing._NAMES)

routing_numbers = st.sampled_from([*REAL, *KNOWN])
positions = st.integers(0, 8)


class TestValidate:
    @pytest.mark.parametrize("number", REAL)
    def test_accepts_real_numbers(self, number):
        assert routing.validate(number)

    @pytest.mark.parametrize(
        "number",
        [
            "",
            "02100002",  # eight digits
            "0210000210",
            "021000021\n",
            " 021000021",
            "021000022",  # checksum
            "000000000",  # passes the checksum, prefix 00
            "500000005",  # passes the checksum, prefix 50
            "999999992",
            "800000002",  # traveller's cheques
            "130000006",  # just past the districts
            "²²²²²²²²²",
            "٠٢١٠٠٠٠٢١",
            "\uff102100002\uff11",  # full-width digits
            "02100002A",
            "+21000021",
            "21000021",
        ],
    )
    def test_refuses_everything_else(self, number):
        assert not routing.validate(number)

    @pytest.mark.parametrize("prefix", [1, 12, 21, 32, 61, 72])
    def test_accepts_the_edges_of_the_prefix_ranges(self, prefix):
        assert routing.validate(_with_checksum(f"{prefix:02d}000000"))

    @pytest.mark.parametrize("prefix", [0, 13, 20, 33, 60, 73, 80])
    def test_refuses_the_prefixes_next_to_them(self, prefix):
        assert not routing.validate(_with_checksum(f"{prefix:02d}000000"))

    @given(st.from_regex(r"[0-9]{8}", fullmatch=True))
    def test_leaves_exactly_one_check_digit_to_an_accepted_prefix(self, stem):
        accepted = [digit for digit in "0123456789" if routing.validate(stem + digit)]

        assert accepted == ([_with_checksum(stem)[-1]] if int(stem[:2]) in routing.PREFIXES else [])

    @given(routing_numbers, positions, st.sampled_from("0123456789"))
    def test_notices_any_single_wrong_digit(self, number, position, digit):
        assume(number[position] != digit)

        assert not routing.validate(number[:position] + digit + number[position + 1 :])

    @given(st.text())
    def test_never_fails_on_text(self, text):
        assert routing.validate(text) in {True, False}


class TestBankName:
    def test_knows_the_well_known(self):
        assert routing.bank_name("021000021") == "JPMorgan Chase"
        assert routing.bank_name("121042882") == "Wells Fargo"

    def test_says_nothing_of_others(self):
        assert routing.bank_name("011000015") == ""
        assert routing.bank_name("not a number") == ""

    @pytest.mark.parametrize("number", KNOWN)
    def test_lists_only_valid_numbers(self, number):
        assert routing.validate(number)

    def test_names_the_sandbox_banks(self):
        assert routing.bank_name("099900001") == "First Sandbox Bank"
        assert set(routing.SANDBOX_BANKS) <= set(KNOWN)


def _with_checksum(stem: str) -> str:
    """The check digit worked out the long way, apart from the code under test."""
    d = [int(digit) for digit in stem]
    total = 3 * (d[0] + d[3] + d[6]) + 7 * (d[1] + d[4] + d[7]) + d[2] + d[5]
    return stem + str(-total % 10)
