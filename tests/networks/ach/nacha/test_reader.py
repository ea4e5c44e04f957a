from __future__ import annotations

from datetime import date, time

import pytest

from networks.ach.nacha.records import (
    Addenda05,
    Addenda98,
    Addenda98Refused,
    Addenda99,
    Addenda99Contested,
    Addenda99Dishonored,
    BatchControl,
    BatchHeader,
    EntryDetail,
    FileControl,
    FileHeader,
)
from tests.networks.ach.nacha import raw
from tests.networks.ach.nacha.reading import entries, events, faults, items, notes

TRACE = f"{raw.RDFI}0000007"


def returned(addenda, **entry):
    """A file with one entry that comes back."""
    record = raw.entry(
        **({"code": "26", "rdfi": raw.ODFI, "check": "9", "indicator": "1"} | entry), trace=TRACE
    )
    return raw.file(raw.batch(record, *addenda, odfi=raw.RDFI, settlement="329"))


class TestForwardFile:
    def test_yields_every_record_with_its_line(self):
        first, batch, plain, with_addenda, control, *_, last = items(raw.forward_file())

        assert first.record == FileHeader(
            immediate_destination="091000019",
            immediate_origin="1234567890",
            file_creation_date=date(2026, 11, 20),
            file_creation_time=time(10, 15),
            file_id_modifier="A",
            immediate_destination_name="FIRST BANK",
            immediate_origin_name="BALLAST",
            reference_code="",
        )
        assert batch.record == BatchHeader(
            service_class_code=225,
            company_name="BALLAST",
            company_discretionary_data="",
            company_identification="1234567890",
            standard_entry_class_code="CCD",
            company_entry_description="TOPUP",
            company_descriptive_date="",
            effective_entry_date=date(2026, 11, 23),
            settlement_date=None,
            originator_status_code="1",
            originating_dfi_identification="09100001",
            batch_number=1,
        )
        assert plain.record == EntryDetail(
            transaction_code=27,
            receiving_dfi_identification="09000051",
            check_digit="5",
            dfi_account_number="744-5678-99",
            amount=15_000,
            individual_identification_number="ID1",
            individual_name="ACME CORP",
            discretionary_data="",
            addenda_record_indicator=0,
            trace_number="091000010000001",
        )
        assert plain.record.receiving_dfi_routing_number == "090000515"
        assert (with_addenda.line, with_addenda.addenda) == (
            4,
            (Addenda05("INVOICE 7", 1, "0000002"),),
        )
        assert control.record == BatchControl(
            service_class_code=225,
            entry_addenda_count=3,
            entry_hash=18_000_102,
            total_debit_entry_dollar_amount=30_000,
            total_credit_entry_dollar_amount=0,
            company_identification="1234567890",
            message_authentication_code="",
            originating_dfi_identification="09100001",
            batch_number=1,
        )
        assert last.record == FileControl(
            batch_count=3,
            block_count=2,
            entry_addenda_count=6,
            entry_hash=45_000_255,
            total_debit_entry_dollar_amount=45_000,
            total_credit_entry_dollar_amount=15_001,
        )
        assert [first.line, batch.line, plain.line, control.line, last.line] == [1, 2, 3, 6, 14]

    def test_has_no_fault(self):
        assert faults(raw.forward_file()) == notes(raw.forward_file()) == []

    def test_of_the_web_says_how_often_the_holder_is_debited(self):
        assert entries(raw.forward_file())[-1].record.payment_type_code == "S"

    def test_of_an_operator_has_its_settlement_date(self):
        lines = raw.file(raw.batch(raw.entry(), settlement="366"))

        assert items(lines)[1].record.settlement_date == 366


class TestReturnedEntries:
    def test_of_a_return(self):
        lines = raw.return_file(code="R15", died="261103", information="ESTATE")

        (entry,) = entries(lines)

        assert faults(lines) == []
        assert entry.record.transaction_code == 26
        assert entry.addenda == (
            Addenda99(
                return_reason_code="R15",
                original_entry_trace_number="091000010000001",
                date_of_death=date(2026, 11, 3),
                original_receiving_dfi_identification="09000051",
                addenda_information="ESTATE",
                trace_number="090000510000007",
            ),
        )

    def test_of_a_notification_of_change(self):
        (entry,) = entries(raw.noc_file(code="C03", data="091000019   123456789"))

        assert entry.addenda == (
            Addenda98(
                change_code="C03",
                original_entry_trace_number="091000010000001",
                original_receiving_dfi_identification="09000051",
                corrected_data="091000019   123456789",
                trace_number="090000510000008",
            ),
        )
        assert faults(raw.noc_file()) == []

    def test_of_a_dishonored_return(self):
        lines = returned([raw.dishonored(TRACE)])

        assert faults(lines) == []
        assert entries(lines)[0].addenda == (
            Addenda99Dishonored(
                dishonored_return_reason_code="R68",
                original_entry_trace_number="091000010000001",
                original_receiving_dfi_identification="09000051",
                return_trace_number="090000510000009",
                return_settlement_date=325,
                return_reason_code="01",
                addenda_information="UNTIMELY RETURN",
                trace_number=TRACE,
            ),
        )

    def test_of_a_contested_dishonored_return(self):
        lines = returned([raw.contested(TRACE)])

        assert faults(lines) == []
        assert entries(lines)[0].addenda == (
            Addenda99Contested(
                contested_dishonored_return_reason_code="R73",
                original_entry_trace_number="091000010000001",
                date_original_entry_returned=date(2026, 11, 24),
                original_receiving_dfi_identification="09000051",
                original_settlement_date=327,
                return_trace_number="090000510000009",
                return_settlement_date=328,
                return_reason_code="01",
                dishonored_return_trace_number="091000010000005",
                dishonored_return_settlement_date=331,
                dishonored_return_reason_code="68",
                trace_number=TRACE,
            ),
        )

    def test_of_a_refused_notification_of_change(self):
        record = raw.entry(
            code="26", rdfi=raw.ODFI, check="9", indicator="1", amount=0, trace=TRACE
        )
        lines = raw.file(raw.batch(record, raw.refused(TRACE), odfi=raw.RDFI, sec="COR"))

        assert faults(lines) == []
        assert entries(lines)[0].addenda == (
            Addenda98Refused(
                refused_cor_code="C65",
                original_entry_trace_number="091000010000001",
                original_receiving_dfi_identification="09000051",
                corrected_data="1918171614",
                change_code="C01",
                trace_sequence_number="0000009",
                trace_number=TRACE,
            ),
        )

    def test_of_a_prenote_has_no_amount(self):
        assert faults(returned([raw.addenda_99(TRACE, code="R03")], amount=0)) == []

    def test_are_read_with_a_code_that_nobody_knows(self):
        for lines, code in (
            (raw.return_file(code="R97"), "return_code_unknown"),
            (raw.noc_file(code="C99"), "change_code_unknown"),
        ):
            (entry,) = entries(lines)

            assert faults(lines) == [(4, code)]
            assert [fault.code for fault in entry.faults] == [code]
            assert entry.addenda[0][0] in ("R97", "C99")

    def test_with_a_forward_transaction_code_are_noted(self):
        lines = returned([raw.addenda_99(TRACE)], code="27")

        assert (faults(lines), notes(lines)) == ([], [(3, "return_transaction_code")])


class TestWhatBanksDoOtherwise:
    LINES = raw.return_file()

    @pytest.mark.parametrize(
        "content",
        [
            raw.content(LINES, end=""),
            raw.content(LINES, end="\r\n"),
            raw.content(LINES, end="") + b"\n",
            raw.content(LINES)[:-1],
            raw.content(LINES) + b"\n\r\n \n",
            raw.content(line.rstrip() for line in LINES),
            raw.content((line.rstrip() for line in LINES), end="\r\n"),
            raw.content(line + " " * 200 for line in LINES),
            raw.content(["".join(LINES)], end=" " * 50 + "\n"),
            raw.content(LINES, end="")[:-1] + b"9" + b" " * 3_000,
        ],
    )
    def test_with_lines_changes_nothing(self, content):
        assert [(item.record, item.addenda) for item in items(content)] == [
            (item.record, item.addenda) for item in items(self.LINES)
        ]
        assert faults(content) == notes(content) == []

    def test_a_header_that_ends_with_a_name(self):
        lines = raw.forward_file()
        header = lines[0][:70]

        assert items([header, *lines[1:]])[0].record == items(lines)[0].record
        assert faults([header, *lines[1:]]) == []

    def test_a_destination_of_ten_digits(self):
        header = raw.file_header(destination="1234567890")

        (first, *_) = items(raw.file(raw.batch(raw.entry()), header=header))

        assert first.record.immediate_destination == "1234567890"

    def test_names_in_lower_case(self):
        lines = raw.file(raw.batch(raw.entry(name="Acme Corp")))

        assert entries(lines)[0].record.individual_name == "Acme Corp"
        assert faults(lines) == []

    def test_zeros_for_a_date_that_is_not_given(self):
        lines = raw.file(raw.batch(raw.entry(), effective="000000"))

        assert items(lines)[1].record.effective_entry_date is None
        assert faults(lines) == []

    def test_no_header_and_no_controls_is_read_and_named(self):
        lines = [line for line in raw.return_file() if line[0] in "567"]

        assert [item.addenda[0].return_reason_code for item in entries(lines)] == ["R01"]
        assert faults(lines) == [
            (1, "file_header_missing"),
            (3, "batch_control_missing"),
            (3, "file_control_missing"),
        ]

    def test_a_second_batch_without_a_control_before_it(self):
        batch = raw.batch(raw.entry())
        lines = raw.file(batch[:-1], raw.batch(raw.entry(2), number="0000002"))

        assert faults(lines) == [(4, "batch_control_missing")]
        assert len(entries(lines)) == 2

    def test_no_fill_is_noted(self):
        lines = [line for line in raw.forward_file() if line != raw.NINES]

        assert (faults(lines), notes(lines)) == ([], [(14, "fill_missing")])

    def test_traces_in_disorder_are_noted(self):
        lines = raw.file(raw.batch(raw.entry(2), raw.entry(1)))

        assert (faults(lines), notes(lines)) == ([], [(4, "trace_numbers_out_of_order")])


class TestBatchesThatAreNotRead:
    @pytest.mark.parametrize(
        ("header", "code"),
        [
            ({"sec": "IAT"}, "international_not_supported"),
            ({"sec": "CTX"}, "sec_not_supported"),
            ({"sec": "XYZ"}, "standard_entry_class_code_unknown"),
        ],
    )
    def test_are_named_and_counted_and_the_others_read(self, header, code):
        lines = raw.file(
            raw.batch(raw.entry(), **header), raw.batch(raw.entry(2), number="0000002")
        )

        assert faults(lines) == [(2, code)]
        assert [item.line for item in entries(lines)] == [6]

    def test_of_advices_have_other_totals(self):
        entry = "681231380104744-5678-99    00000005000012104288211131 NAME".ljust(79)
        header = raw.batch_header(service_class="280", sec="ADV")
        control = "82800000010023138010" + "0" * 15 + "50000" + " " * 54
        total = "9000001000001000000010023138010" + "0" * 15 + "50000" + " " * 43
        lines = [raw.file_header(), header, entry + raw.ODFI + "0000001", control, total]
        lines = [line[:94] for line in lines] + [raw.NINES] * 5

        assert faults(lines) == [(2, "adv_not_supported")]
        assert entries(lines) == []


@pytest.mark.parametrize("between", ["", "\n", "\r\n" * 40_000])
def test_lines_are_counted_over_empty_ones(between):
    lines = raw.changed(raw.forward_file(), 3, 12, "4")
    data = raw.content(lines[:2], "\n") + between.encode() + raw.content(lines[2:], "\n")

    assert faults(data) == [(3 + between.count("\n"), "check_digit_wrong")]


def test_faults_come_before_their_entry_and_go_with_it():
    lines = raw.file(raw.batch(raw.entry(1, check="4"), raw.entry(2)))

    before, wrong, right = events(lines)[2:5]

    assert before.code == "check_digit_wrong"
    assert wrong.faults == (before,)
    assert right.faults == ()
