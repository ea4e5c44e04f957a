"""What a bank account must look like before we keep it."""

from __future__ import annotations

import pytest

from networks import bank_details
from networks.errors import InvalidBankDetails


class TestAccountNumber:
    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("1234", "1234"),
            ("00012345678901234", "00012345678901234"),
            (" 0007 7700 0123 ", "000777000123"),
            ("12-345-A", "12-345-A"),
            ("abcd", "ABCD"),
            ("ab 12-c", "AB12-C"),
            ("0001", "0001"),
        ],
    )
    def test_is_kept_as_it_goes_to_a_bank(self, text, number):
        assert bank_details.checked_account_number(text) == number

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "   ",
            "123",
            "123456789012345678",
            "0000",
            "00000000000000000",
            "----",
            "0-0-0-0",
            "=1+1",
            "1234.5",
            "12_34",
            "1234\n",
            "12\t345",
            "12\u00a0345",
            "\uff11\uff12\uff13\uff14\uff15",
            "٠١٢٣٤٥",
            "12345é",
            "+12345",
        ],
    )
    def test_refuses_anything_else(self, text):
        with pytest.raises(InvalidBankDetails) as refusal:
            bank_details.checked_account_number(text)

        assert refusal.value.field == "accountNumber"

    @pytest.mark.parametrize(
        "text",
        [
            "4111111111111111",
            "4111 1111 1111 1111",
            "5555555555554444",
            "378282246310005",
            "343434343434343",
            "3782-822463-10005",
        ],
    )
    def test_refuses_the_number_of_a_payment_card(self, text):
        with pytest.raises(InvalidBankDetails, match="payment card") as refusal:
            bank_details.checked_account_number(text)

        assert text not in str(refusal.value)

    @pytest.mark.parametrize(
        "text",
        ["4111111111111112", "6111111111111111", "411111111111111", "41111111111111113"],
    )
    def test_takes_what_only_begins_like_a_card(self, text):
        assert bank_details.checked_account_number(text) == text


class TestRoutingNumber:
    @pytest.mark.parametrize("text", ["021000021", "099900001", "322271627"])
    def test_is_taken(self, text):
        assert bank_details.checked_routing_number(text) == text

    @pytest.mark.parametrize(
        "text",
        ["", "021000022", "990000000", "000000000", " 021000021 ", "02100002", "٠٢١٠٠٠٠٢١"],
    )
    def test_is_refused(self, text):
        with pytest.raises(InvalidBankDetails) as refusal:
            bank_details.checked_routing_number(text)

        assert refusal.value.field == "routingNumber"


class TestHolderName:
    @pytest.mark.parametrize(
        "text",
        [
            "Acme Inc",
            "José Café Łódź",
            "O'Neil & Sons (Holdings), Ltd.",
            'A+ 100% #1 $ E*Trade @home! / 24-7: "Joe" _x; ?',
            "7",
            "\uff21cme",
            "x" * 120,
        ],
    )
    def test_is_taken_as_it_is(self, text):
        assert bank_details.checked_holder_name(text) == text

    @pytest.mark.parametrize("text", ["", " ", "---", "\u0301", "漢字", "😀", "x" * 121, "0 00"])
    def test_is_refused_when_a_bank_could_not_read_it(self, text):
        with pytest.raises(InvalidBankDetails) as refusal:
            bank_details.checked_holder_name(text)

        assert refusal.value.field == "accountHolderName"

    @pytest.mark.parametrize("sign", list("<>{}[]=|\\^~`"))
    def test_holds_nothing_that_markup_and_formulas_are_made_of(self, sign):
        with pytest.raises(InvalidBankDetails, match="none of"):
            bank_details.checked_holder_name(f"Acme {sign} Inc")


class TestLast4:
    @pytest.mark.parametrize(
        ("number", "shown"), [("000123456789", "6789"), ("50000", "0000"), ("1234", "34")]
    )
    def test_never_shows_the_whole_number(self, number, shown):
        assert bank_details.last4(number) == shown
