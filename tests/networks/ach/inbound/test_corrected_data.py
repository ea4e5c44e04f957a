from __future__ import annotations

import pytest

from networks.ach.inbound.corrected_data import Corrected, Impossible, parse

ROUTING = "091000019"
ACCOUNT = "74456709001"
LONG = "12345678901234567"


class TestAlignedData:
    @pytest.mark.parametrize(
        ("code", "data", "corrected"),
        [
            ("C01", ACCOUNT, Corrected(account_number=ACCOUNT)),
            ("C01", LONG, Corrected(account_number=LONG)),
            ("C01", "744 5678 99", Corrected(account_number="744567899")),
            ("C02", ROUTING, Corrected(routing_number=ROUTING)),
            (
                "C03",
                f"{ROUTING}   {ACCOUNT}",
                Corrected(routing_number=ROUTING, account_number=ACCOUNT),
            ),
            (
                "C03",
                f"{ROUTING}   {LONG}",
                Corrected(routing_number=ROUTING, account_number=LONG),
            ),
            ("C05", "37", Corrected(account_type="savings")),
            ("C05", "22", Corrected(account_type="checking")),
            (
                "C06",
                f"{ACCOUNT:<17}   32",
                Corrected(account_number=ACCOUNT, account_type="savings"),
            ),
            (
                "C07",
                f"{ROUTING}{ACCOUNT:<17}27",
                Corrected(routing_number=ROUTING, account_number=ACCOUNT, account_type="checking"),
            ),
            (
                "C07",
                f"{ROUTING}{LONG}37",
                Corrected(routing_number=ROUTING, account_number=LONG, account_type="savings"),
            ),
        ],
    )
    def test_is_read_by_its_positions(self, code, data, corrected):
        assert parse(code, data) == corrected

    @pytest.mark.parametrize("code", ["C04", "C08", "C09", "C13", "C14"])
    def test_of_other_codes_only_informs(self, code):
        assert parse(code, "  SOMETHING ELSE ") == Corrected(text="SOMETHING ELSE")


class TestBadlyAlignedData:
    @pytest.mark.parametrize(
        ("code", "data"),
        [
            ("C03", f" {ROUTING}   {ACCOUNT}"),
            ("C03", f"{ROUTING} {ACCOUNT}"),
            ("C03", f"{ROUTING}{ACCOUNT}"),
            ("C03", f"{ROUTING}      {ACCOUNT}"),
        ],
    )
    def test_is_split_where_there_is_no_doubt(self, code, data):
        assert parse(code, data) == Corrected(routing_number=ROUTING, account_number=ACCOUNT)

    @pytest.mark.parametrize(
        ("code", "data", "account"),
        [
            ("C01", f"            {ACCOUNT}", ACCOUNT),
            ("C06", f"{ACCOUNT} 37", ACCOUNT),
            ("C06", f" {ACCOUNT:<17}   37", ACCOUNT),
            ("C06", f"{LONG}37", LONG),
            ("C07", f"{ROUTING}{ACCOUNT} 37", ACCOUNT),
            ("C07", f"{ROUTING} {ACCOUNT} 37", ACCOUNT),
            ("C07", f" {ROUTING}{LONG}37", LONG),
        ],
    )
    def test_is_split_at_blanks(self, code, data, account):
        found = parse(code, data)

        assert found.account_number == account
        assert found.account_type == ("" if code == "C01" else "savings")
        assert found.routing_number == (ROUTING if code == "C07" else "")


class TestImpossibleData:
    @pytest.mark.parametrize(
        ("code", "data"),
        [
            ("C01", ""),
            ("C01", "000"),
            ("C01", "0000-0000"),
            ("C01", "7445 67 09001 555555 5555555"),
            ("C02", "123456789"),
            ("C02", "09100001"),
            ("C03", "123456789   74456709001"),
            ("C03", ROUTING),
            ("C03", f"{ACCOUNT}   {ROUTING}"),
            ("C05", "99"),
            ("C05", "7"),
            ("C05", "20"),
            ("C06", f"{'':20}99"),
            ("C06", f"{ACCOUNT}37"),
            ("C07", f"123456789{'':17}99"),
            ("C07", f"{ROUTING}{ACCOUNT}37"),
            ("C10", ACCOUNT),
            ("C99", ACCOUNT),
            ("XYZ", ACCOUNT),
        ],
    )
    def test_is_refused_without_repeating_it(self, code, data):
        with pytest.raises(Impossible) as refusal:
            parse(code, data)

        assert not data.strip() or data.strip() not in str(refusal.value)


def test_details_do_not_show_in_logs():
    assert repr(parse("C07", f"{ROUTING}{ACCOUNT:<17}27")) == (
        "Corrected(routing_number, account_number, account_type)"
    )
