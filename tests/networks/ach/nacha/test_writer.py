from __future__ import annotations

from datetime import date, time
from io import BytesIO

import pytest

from networks.ach.nacha import writer
from networks.ach.nacha.records import Addenda05, BatchHeader, Entry, EntryDetail, FileHeader
from networks.ach.nacha.writer import DoesNotFit, Writer
from tests.networks.ach.nacha import raw

HEADER = FileHeader(
    immediate_destination="091000019",
    immediate_origin="1234567890",
    file_creation_date=date(2026, 11, 20),
    file_creation_time=time(10, 15),
    file_id_modifier="A",
    immediate_destination_name="FIRST BANK",
    immediate_origin_name="BALLAST",
    reference_code="",
)
BATCH = BatchHeader(
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


def detail(sequence=1, **changes):
    return EntryDetail(
        transaction_code=27,
        receiving_dfi_identification="09000051",
        check_digit="5",
        dfi_account_number="744-5678-99",
        amount=15_000,
        individual_identification_number="ID1",
        individual_name="ACME CORP",
        discretionary_data="",
        addenda_record_indicator=0,
        trace_number=f"09100001{sequence:07d}",
    )._replace(**changes)


def written(*batches, header=HEADER):
    sink = BytesIO()
    control = writer.write(sink, header, batches)
    return sink.getvalue(), control


def test_every_character_is_where_the_rule_book_wants_it():
    with_addenda = Entry(
        detail(2, addenda_record_indicator=1), (Addenda05("INVOICE 7", 1, "0000002"),)
    )
    credits = BATCH._replace(
        service_class_code=220,
        standard_entry_class_code="PPD",
        company_entry_description="PAYOUT",
        batch_number=2,
    )
    web = BATCH._replace(standard_entry_class_code="WEB", batch_number=3)

    content, control = written(
        (BATCH, [Entry(detail(1)), with_addenda]),
        (
            credits,
            [
                Entry(detail(3, transaction_code=22, individual_name="ANNA LEE")),
                Entry(detail(4, transaction_code=32, individual_name="BO DIAZ", amount=1)),
            ],
        ),
        (
            web,
            [
                Entry(
                    detail(
                        5, transaction_code=37, individual_name="CY YOUNG", discretionary_data="S"
                    )
                )
            ],
        ),
    )

    assert content.decode().splitlines() == raw.forward_file()
    assert control == (3, 2, 6, 45_000_255, 45_000, 15_001)


def test_a_batch_gives_its_totals():
    file = Writer(BytesIO(), HEADER)

    control = file.batch(BATCH, [Entry(detail(1)), Entry(detail(2))])

    assert (control.entry_addenda_count, control.entry_hash) == (2, 18_000_102)
    assert control.total_debit_entry_dollar_amount == 30_000


def test_the_hash_keeps_its_last_ten_digits():
    entries = [Entry(detail(n, receiving_dfi_identification="99999999")) for n in range(1, 102)]

    _, control = written((BATCH, entries))

    assert control.entry_hash == (101 * 99_999_999) % 10**10


def test_line_ends_are_the_banks_choice():
    sink = BytesIO()
    file = Writer(sink, HEADER, line_end="\r\n")
    file.batch(BATCH, [Entry(detail())])
    file.close()

    lines = sink.getvalue().split(b"\r\n")
    assert [len(line) for line in lines] == [94] * 10 + [0]


def test_entries_are_asked_for_one_by_one_and_written_as_they_come():
    sink = BytesIO()
    seen = []

    def entries():
        for number in range(1, 5_001):
            seen.append(len(sink.getvalue()))
            yield Entry(detail(number))

    writer.write(sink, HEADER, [(BATCH, entries())])

    assert seen[-1] > 3_000 * 95


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"individual_name": "Acme"}, "individual_name"),
        ({"individual_name": "ACM\xc9"}, "individual_name"),
        ({"individual_name": "A\nB"}, "individual_name"),
        ({"individual_name": " ACME"}, "individual_name"),
        ({"individual_name": "X" * 23}, "individual_name"),
        ({"dfi_account_number": "1" * 18}, "dfi_account_number"),
        ({"individual_identification_number": "X" * 16}, "individual_identification_number"),
        ({"amount": 10**10}, "amount"),
        ({"amount": -1}, "amount"),
        ({"amount": "ten"}, "amount"),
        ({"receiving_dfi_identification": "0900005"}, "receiving_dfi_identification"),
        ({"check_digit": ""}, "check_digit"),
        ({"discretionary_data": "ABC"}, "discretionary_data"),
        ({"transaction_code": 127}, "transaction_code"),
        ({"transaction_code": 22}, "the transaction code does not fit the service class"),
        ({"transaction_code": 99}, "the transaction code does not fit the service class"),
        ({"trace_number": "090000510000001"}, "the trace number of another bank"),
        ({"trace_number": "1"}, "trace_number"),
        ({"addenda_record_indicator": 1}, "the addenda record indicator"),
    ],
)
def test_an_entry_that_does_not_fit_is_refused_by_its_field(changes, problem):
    with pytest.raises(DoesNotFit) as refusal:
        written((BATCH, [Entry(detail(**changes))]))

    assert (refusal.value.line, refusal.value.problem) == (3, problem)


@pytest.mark.parametrize(
    ("changes", "line", "problem"),
    [
        ({"company_name": "X" * 17}, 2, "company_name"),
        ({"company_entry_description": "x"}, 2, "company_entry_description"),
        ({"standard_entry_class_code": "CTX"}, 2, "no entry class that we write"),
        ({"service_class_code": 280}, 2, "no such service class"),
        ({"settlement_date": 367}, 2, "settlement_date"),
        ({"effective_entry_date": date(1999, 1, 4)}, 2, "effective_entry_date"),
        ({"batch_number": 10**7}, 2, "batch_number"),
        ({"batch_number": -1}, 2, "the batch number is not above the one before"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused(changes, line, problem):
    with pytest.raises(DoesNotFit) as refusal:
        written((BATCH._replace(**changes), [Entry(detail())]))

    assert (refusal.value.line, refusal.value.problem) == (line, problem)


@pytest.mark.parametrize(
    ("batches", "problem"),
    [
        ([], "line 1: a file without a batch"),
        ([(BATCH, [])], "line 2: a batch without an entry"),
        (
            [(BATCH, [Entry(detail(2)), Entry(detail(2))])],
            "line 4: the trace number is not above the one before",
        ),
        (
            [(BATCH, [Entry(detail(1))]), (BATCH, [Entry(detail(2))])],
            "line 5: the batch number is not above the one before",
        ),
        ([(BATCH, [Entry(detail(amount=1.5))])], "line 3: an amount is no whole number of cents"),
        (
            [(BATCH, [Entry(detail(n, amount=10**10 - 1)) for n in range(1, 102)])],
            "line 104: total_debit_entry_dollar_amount",
        ),
    ],
)
def test_what_makes_no_file_is_refused(batches, problem):
    with pytest.raises(DoesNotFit, match=problem):
        written(*batches)


def test_two_batches_of_which_each_fits_may_be_too_much_for_the_file():
    entries = [Entry(detail(n, amount=10**10 - 1)) for n in range(1, 61)]
    second = BATCH._replace(batch_number=2)

    with pytest.raises(DoesNotFit, match="line 126: total_debit_entry_dollar_amount"):
        written((BATCH, entries), (second, entries))


def test_a_file_header_that_does_not_fit_is_refused():
    with pytest.raises(DoesNotFit, match="line 1: file_id_modifier"):
        written((BATCH, [Entry(detail())]), header=HEADER._replace(file_id_modifier="a"))


def test_the_refusal_says_nothing_of_the_account():
    with pytest.raises(DoesNotFit) as refusal:
        written((BATCH, [Entry(detail(dfi_account_number="SECRET" * 4))]))

    assert "SECRET" not in str(refusal.value)
