from __future__ import annotations

from typing import Any

import pytest

from networks import return_codes, routing
from networks.base import AccountType, Correction, Method
from networks.sandbox import scripts

ACH = [Method.ACH_DEBIT, Method.ACH_CREDIT]
RTP = [Method.RTP_REQUEST, Method.RTP_CREDIT]


def story(method: Method, number: str) -> str:
    return " ".join(f"{step.kind}{step.code}" for step in scripts.steps_for(method, number))


@pytest.mark.parametrize("method", ACH)
class TestAch:
    @pytest.mark.parametrize(
        ("number", "expected"),
        [
            ("000123456789", "accepted final"),
            ("10001", "accepted returnedR01"),
            ("10090", "accepted returnedR90"),
            ("20010", "accepted final returnedR10"),
            ("30001", ""),
            ("30002", "accepted final"),
            ("40003", "accepted final"),
            ("41004", "accepted final"),
            ("50000", "accepted final"),
            ("50001", "accepted final"),
            ("51001", "accepted final"),
            ("60001", "accepted correctedC01 final"),
            ("60009", "accepted correctedC09 final"),
            ("60013", "accepted correctedC13 final"),
            ("70001", "accepted final"),
        ],
    )
    def test_follows_the_account_number(self, method, number, expected):
        assert story(method, number) == expected

    @pytest.mark.parametrize(
        "number",
        [
            *("10000", "10048", "20048", "10099", "20000", "30010", "100010", "1000", "010001"),
            *("60000", "60008", "60061", "060001"),
        ],
    )
    def test_completes_for_a_code_that_does_not_exist_and_for_lookalikes(self, method, number):
        assert story(method, number) == "accepted final"

    def test_returns_every_assigned_code_early_and_late(self, method):
        for code in filter(return_codes.is_ach_return, return_codes.ALL):
            assert story(method, f"100{code[1:]}") == f"accepted returned{code}"
            assert story(method, f"200{code[1:]}") == f"accepted final returned{code}"


@pytest.mark.parametrize("method", RTP)
class TestRtp:
    @pytest.mark.parametrize(
        ("number", "expected"),
        [
            ("000123456789", "accepted final"),
            ("40003", "rejectedAC03"),
            ("40004", "rejectedAC04"),
            ("40006", "rejectedAC06"),
            ("41004", "rejectedAM04"),
            ("51001", "rejectedNOAT"),
            ("30001", ""),
            ("30002", "accepted final"),
        ],
    )
    def test_follows_the_account_number(self, method, number, expected):
        assert story(method, number) == expected

    @pytest.mark.parametrize("number", ["10001", "20010", "60001"])
    def test_has_no_returns_and_no_corrections(self, method, number):
        assert story(method, number) == "accepted final"


class TestMicroDeposits:
    def test_are_needed_by_two_numbers_only(self):
        needy = [n for n in map(str, range(10_000, 60_000)) if scripts.needs_micro_deposits(n)]

        assert needy == ["50000", "50001"]

    def test_come_back_or_arrive(self):
        assert [s.kind for s in scripts.micro_deposit_steps("50001")] == ["accepted", "final"]
        assert [(s.kind, s.code) for s in scripts.micro_deposit_steps("50000")] == [
            ("accepted", ""),
            ("returned", "R03"),
        ]


class TestCorrections:
    def test_say_what_the_code_says_and_nothing_else(self):
        savings = {"account_type": AccountType.SAVINGS}
        routing_number = {"routing_number": "099900014"}
        corrections: dict[str, dict[str, Any]] = {
            "C01": {"account_number": "70001"},
            "C02": routing_number,
            "C03": {**routing_number, "account_number": "70003"},
            "C04": {"name": "CORRECTED NAME"},
            "C05": savings,
            "C06": {**savings, "account_number": "70006"},
            "C07": {**routing_number, **savings, "account_number": "70007"},
            "C13": {},
        }

        for code, values in corrections.items():
            assert scripts.correction(code) == Correction(code=code, **values)

    def test_name_a_bank_that_could_be(self):
        assert routing.validate(scripts.correction("C02").routing_number)

    def test_are_not_to_be_read_in_logs(self):
        assert repr(scripts.correction("C07")) == "Correction(code='C07')"


def test_only_one_number_finds_the_network_down():
    assert scripts.outages("30002") == 2
    assert scripts.outages("000123456789") == 0


def test_test_accounts_are_the_numbers_of_the_contract():
    found = [n for n in map(str, range(100_000)) if scripts.is_test_account(n)]

    assert found == [
        *(f"100{n:02d}" for n in range(100)),
        *(f"200{n:02d}" for n in range(100)),
        *("30001", "30002", "40003", "40004", "40006", "41004", "50000", "50001", "51001"),
        *(f"600{n:02d}" for n in range(100)),
    ]
