"""BAI2 as banks write it, read into headings and lines."""

from __future__ import annotations

from datetime import date

import pytest

from networks.bank_statements.items import Account, LineKind, Purpose, References
from tests.networks.bank_statements.reading import BAI2, changed, faults, lines, notes, only, whole

# Two accounts of section 3 of the specification, whose control totals it works out itself.
SPECIFICATION = """\
01,122099999,123456789,040621,0200,1,65,,2/
02,031001234,122099999,1,040620,2359,,1/
03,0123456789,,010,+4350000,,,040,2830000,,/
88,072,1020000,,,074,500000,,/
16,115,450000,S,100000,200000,150000,,,/
49,9150000,4/
03,9876543210,,010,-500000,,,100,1000000,,,400,2000000,,,190/
88,500000,,,110,1000000,,,072,500000,,,074,500000,,,040/
88,-1500000,,/
16,115,500000,S,,200000,300000,,,LOCK BOX NO.68751
49,4000000,5/
98,13150000,2,11/
99,13150000,1,13/
"""


class TestRight:
    def test_has_a_heading(self):
        heading = only(BAI2).heading

        assert heading.account == Account(number="0123456789", bank="122099999")
        assert (heading.format, heading.purpose) == ("BAI2", Purpose.STATEMENT)
        assert (heading.opening, heading.closing) == (43_500_00, 53_000_00)
        assert (heading.to_date, heading.from_date) == (date(2026, 11, 27), None)
        assert heading.file_id == "122099999-20261128-1"
        assert (heading.number, heading.position, heading.currency) == (1, 3, "USD")

    def test_has_lines(self):
        found = lines(BAI2)

        assert [(line.position, line.amount, line.kind, line.type_code) for line in found] == [
            (5, 4_500_00, LineKind.CREDIT, "115"),
            (6, 10_000_00, LineKind.CREDIT, "165"),
            (7, -5_000_00, LineKind.RETURN, "557"),
        ]
        assert {line.booked_date for line in found} == {date(2026, 11, 27)}
        assert [line.value_date for line in found] == [None, None, date(2026, 11, 30)]
        assert all(line.is_booked and not line.details for line in found)

    def test_keeps_references_and_commas_of_the_text(self):
        _, dealer, returned = lines(BAI2)

        assert dealer.references == References(bank="DD1620", customer="CUST-7")
        assert dealer.text == "DEALER PAYMENTS, INC."
        assert returned.references.customer == "021000020000001"
        assert returned.text == "R01 JANE DOE AMOUNT 5,000.00"

    def test_has_nothing_to_say_against_it(self):
        assert faults(BAI2) == notes(BAI2) == []
        assert only(BAI2).is_usable


class TestTheSpecification:
    def test_adds_up_as_it_says_itself(self):
        codes = {code for _, code in faults(SPECIFICATION)}

        assert codes == {"opening_negative", "credits_wrong", "debits_wrong"}  # its totals are none

    def test_sends_what_does_not_fit_into_a_record_in_a_continuation(self):
        statements = whole(SPECIFICATION).statements

        assert [each.heading.opening for each in statements] == [43_500_00, -5_000_00]
        assert [line.amount for each in statements for line in each.lines] == [4_500_00, 5_000_00]
        assert statements[1].lines[0].text == "LOCK BOX NO.68751"

    def test_continues_the_fields_of_a_transaction(self):
        content = changed(
            BAI2,
            ("16,165,1000000,1,DD1620,CUST-7,DEALER PAYMENTS, INC.\n",
             "16,165,1000000,S,500000,400000,100000/\n88,AX13612,B096132,AMALGAMATED CORP. "
             "LOCKBOX\n88,DEPOSIT-MISC. RECEIVABLES\n"),
            ("49,13550000,7/", "49,13550000,9/"),
            ("1,9/", "1,11/"),
            ("1,11/\n99,13550000,1,11/", "1,11/\n99,13550000,1,13/"),
        )  # fmt: skip

        line = only(content).lines[1]
        assert line.references == References(bank="AX13612", customer="B096132")
        assert line.text == "AMALGAMATED CORP. LOCKBOX DEPOSIT-MISC. RECEIVABLES"
        assert notes(content) == []


class TestFraming:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "   \n", "\n\n"])
    def test_takes_any_end_of_a_line(self, end):
        assert lines(BAI2.replace("\n", end)) == lines(BAI2)

    def test_takes_a_file_without_a_last_line_end(self):
        assert lines(BAI2.rstrip("\n")) == lines(BAI2)
        assert faults(BAI2.rstrip("\n")) == []

    def test_takes_records_of_one_length_without_line_ends(self):
        content = BAI2.replace("0200,1,,,2/", "0200,1,80,,2/")
        unbroken = "".join(line.ljust(80) for line in content.splitlines())

        assert lines(unbroken) == lines(BAI2)
        assert faults(unbroken) == []

    def test_notes_a_byte_order_mark(self):
        assert notes(b"\xef\xbb\xbf" + BAI2.encode()) == [(0, "byte_order_mark")]
        assert lines(b"\xef\xbb\xbf" + BAI2.encode()) == lines(BAI2)

    def test_takes_a_text_in_utf_8(self):
        assert lines(changed(BAI2, ("DEALER", "DÉALER")))[1].text == "DÉALER PAYMENTS, INC."


class TestPurpose:
    @pytest.mark.parametrize(
        ("modifier", "purpose"), [("1", "report"), ("2", "statement"), ("3", "report"),
                                  ("4", "statement"), ("", "statement")],
    )  # fmt: skip
    def test_follows_from_the_modifier(self, modifier, purpose):
        content = changed(BAI2, ("2359,,2/", f"2359,,{modifier}/"))

        assert only(content).heading.purpose == purpose

    def test_of_interim_balances_is_a_report_whose_sums_are_not_proven(self):
        content = changed(
            BAI2,
            ("2359,,2/", "2359,,/"),
            ("015,5300000", "030,5300001"),
            *[("13550000,", "13550001,")] * 3,
        )

        assert only(content).heading.purpose is Purpose.REPORT
        assert only(content).heading.closing is None
        assert faults(content) == []


class TestFunds:
    @pytest.mark.parametrize(
        "funds", ["", "0", "1", "2", "Z", "z", "V,261130,", "V,261130,2400", "S,1000000,,",
                  "D,2,0,400000,1,600000"],
    )  # fmt: skip
    def test_of_each_type_leave_the_references_where_they_are(self, funds):
        content = changed(BAI2, ("1000000,1,DD1620", f"1000000,{funds},DD1620"))

        line = only(content).lines[1]
        assert (line.references.bank, line.references.customer) == ("DD1620", "CUST-7")
        assert line.text == "DEALER PAYMENTS, INC."
        assert notes(content) == []

    @pytest.mark.parametrize("funds", ["S,1,2,3", "D,1,0,999999"])
    def test_that_do_not_give_the_amount_are_noted(self, funds):
        content = changed(BAI2, ("1000000,1,DD1620", f"1000000,{funds},DD1620"))

        assert notes(content) == [(6, "availability_differs")]


class TestTypeCodes:
    def test_that_nobody_knows_are_kept_and_noted(self):
        content = changed(BAI2, ("16,165,", "16,199,"), ("16,557,", "16,977,"))

        assert [(line.kind, line.amount) for line in only(content).lines[1:]] == [
            (LineKind.UNKNOWN, 10_000_00),
            (LineKind.UNKNOWN, -5_000_00),
        ]
        assert notes(content) == [(6, "type_code_unknown"), (7, "type_code_unknown")]

    def test_of_totals_are_noted(self):
        assert notes(changed(BAI2, ("16,165,", "16,140,"))) == [(6, "type_code_summary")]

    def test_without_money_are_no_lines(self):
        content = changed(
            BAI2, ("88,AMOUNT 5,000.00", "16,890,,,,,REPORTS ARE LATE"),
        )  # fmt: skip

        assert len(only(content).lines) == 3
        assert faults(content) == []
