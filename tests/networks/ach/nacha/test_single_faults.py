"""One mutation of a right file each, and exactly the faults that follow from it.

`OPERATOR` is what an ACH operator refuses (Nacha Operating Rules, Appendix Two), `OURS` what we do
not want to send. The reader takes a part of it: it judges what comes in, where some fields are
filled in by others.
"""

from __future__ import annotations

from itertools import chain

import pytest

from networks.ach.nacha.faults import MEANINGS
from tests.networks.ach.nacha import raw
from tests.networks.ach.nacha.raw import batch, changed, entry, file
from tests.networks.ach.nacha.reading import faults, judged, notes

RIGHT = raw.forward_file()
TRACE = f"{raw.ODFI}0000001"


def one(*records, header=None, **fields):
    """A file of one batch."""
    return file(batch(*records, **fields), header=header and raw.file_header(**header))


def header(**fields):
    return one(entry(), header=fields)


def with_header(**fields):
    return one(entry(), **fields)


def with_entry(**fields):
    return one(entry(**fields))


def dishonor(**fields):
    record = entry(code="26", indicator="1")
    return one(record, raw.dishonored(TRACE, **fields), odfi=raw.ODFI)


def refusal(record=None, **fields):
    record = record or entry(code="26", indicator="1", amount=0)
    return one(record, raw.refused(TRACE, **fields), sec="COR")


def without(lines, *numbers):
    return [line for number, line in enumerate(lines, start=1) if number not in numbers]


def filled(lines):
    """The same with a block count and fill that fit again."""
    lines = [line for line in lines if line != raw.NINES]
    blocks = -(-len(lines) // 10)
    lines = [line[:7] + f"{blocks:06d}" + line[13:] if line[0] == "9" else line for line in lines]
    return lines + [raw.NINES] * (-len(lines) % 10)


Found = list[tuple[int, str]]
# Name: the file, the faults of the validator, those of the reader (None: the same ones).
Cases = dict[str, tuple[list[str], Found, Found | None]]

WHOLE_FILE: Cases = {
    "empty": ([], [(1, "file_empty")], None),
    "no file header": (
        filled(without(RIGHT, 1)),
        [(1, "file_header_missing")],
        None,
    ),
    "two file headers": (
        filled([RIGHT[0], *RIGHT]),
        [(2, "file_header_repeated")],
        None,
    ),
    "no file control": (
        [line for line in RIGHT if line[0] != "9"],
        [(13, "file_control_missing")],
        None,
    ),
    "something after the control": (
        changed(RIGHT, 20, 1, "8"),
        [(20, "record_after_file_control")],
        None,
    ),
    "record type": (
        changed(RIGHT, 9, 1, "4"),
        [
            (9, "record_type_unknown"),
            (10, "batch_entry_addenda_count_wrong"),
            (10, "batch_entry_hash_wrong"),
            (10, "batch_total_credit_wrong"),
            (14, "file_entry_addenda_count_wrong"),
            (14, "file_entry_hash_wrong"),
            (14, "file_total_credit_wrong"),
        ],
        None,
    ),
    "priority": (header(priority="02"), [(1, "priority_code_invalid")], None),
    "sender": (header(origin=" 091000018"), [(1, "immediate_origin_invalid")], []),
    "sender with a gap": (header(origin="12345 7890"), [(1, "immediate_origin_invalid")], []),
    "destination": (header(destination=" 09100001X"), [(1, "immediate_destination_invalid")], []),
    "creation date": (header(day="260230"), [(1, "file_creation_date_invalid")], None),
    "creation time": (header(at="2460"), [(1, "file_creation_time_invalid")], None),
    "modifier": (header(modifier="-"), [(1, "file_id_modifier_invalid")], None),
    "modifier in lower case": (
        header(modifier="a"),
        [(1, "lower_case"), (1, "file_id_modifier_invalid")],
        [(1, "file_id_modifier_invalid")],
    ),
    "record size": (header(size="095"), [(1, "record_size_invalid")], None),
    "blocking factor": (header(blocking="11"), [(1, "blocking_factor_invalid")], None),
    "format": (header(form="2"), [(1, "format_code_invalid")], None),
    "batch count": (changed(RIGHT, 14, 7, "4"), [(14, "batch_count_wrong")], None),
    "block count": (changed(RIGHT, 14, 13, "3"), [(14, "block_count_wrong")], None),
    "file count": (changed(RIGHT, 14, 21, "7"), [(14, "file_entry_addenda_count_wrong")], None),
    "file hash": (changed(RIGHT, 14, 31, "6"), [(14, "file_entry_hash_wrong")], None),
    "file debit": (changed(RIGHT, 14, 43, "1"), [(14, "file_total_debit_wrong")], None),
    "file credit": (changed(RIGHT, 14, 55, "2"), [(14, "file_total_credit_wrong")], None),
    "file count no number": (
        changed(RIGHT, 14, 21, "X"),
        [(14, "file_entry_addenda_count_wrong")],
        [(14, "entry_addenda_count_invalid")],
    ),
    "entry outside a batch": (
        filled([RIGHT[0], entry(), *RIGHT[1:]]),
        [(2, "record_order")],
        None,
    ),
    "addenda outside a batch": (
        filled([RIGHT[0], raw.addenda_05(), *RIGHT[1:]]),
        [(2, "record_order")],
        None,
    ),
    "addenda before the first entry": (
        filled([*RIGHT[:2], raw.addenda_05(), *RIGHT[2:]]),
        [
            (3, "record_order"),
            (7, "batch_entry_addenda_count_wrong"),
            (15, "file_entry_addenda_count_wrong"),
        ],
        [(3, "record_order")],
    ),
    "control outside a batch": (
        filled([*RIGHT[:6], RIGHT[5], *RIGHT[6:]]),
        [(7, "record_order")],
        None,
    ),
    "batch without control": (
        filled(without(RIGHT, 6)),
        [(6, "batch_control_missing")],
        None,
    ),
    "last batch without control": (
        filled(without(RIGHT, 13)),
        [(13, "batch_control_missing")],
        None,
    ),
    "fill before the control": (
        [*RIGHT[:13], raw.NINES, *RIGHT[13:19]],
        [(14, "record_order")],
        None,
    ),
    "short record": (
        [*RIGHT[:2], RIGHT[2][:90], *RIGHT[3:]],
        [
            (3, "record_short"),
            (6, "batch_entry_addenda_count_wrong"),
            (6, "batch_entry_hash_wrong"),
            (6, "batch_total_debit_wrong"),
            (14, "file_entry_addenda_count_wrong"),
            (14, "file_entry_hash_wrong"),
            (14, "file_total_debit_wrong"),
        ],
        [(3, "record_short")],
    ),
    "long record": (
        [*RIGHT[:9], RIGHT[9] + "7", *RIGHT[10:]],
        [(10, "record_long"), (11, "batch_control_missing")],
        None,
    ),
    "open block": (RIGHT[:-1], [(19, "block_unfilled")], []),
}

BATCH: Cases = {
    "character": (
        changed(RIGHT, 3, 57, "\x07"),
        [(3, "characters")],
        [(3, "characters")],
    ),
    "character that is not ASCII": (changed(RIGHT, 8, 60, "\xe9"), [(8, "characters")], None),
    "ODFI no number": (
        with_header(odfi="0910000X"),
        [
            (2, "originating_dfi_identification_invalid"),
            (3, "trace_number_prefix_wrong"),
        ],
        [
            (2, "originating_dfi_identification_invalid"),
            (4, "originating_dfi_identification_invalid"),
        ],
    ),
    "ODFI that cannot be": (
        one(entry(trace="990000010000001"), odfi="99000001"),
        [(2, "originating_dfi_identification_unknown")],
        [],
    ),
    "service class": (with_header(service_class="210"), [(2, "service_class_code_unknown")], None),
    "service class of the control": (
        changed(RIGHT, 6, 2, "220"),
        [(6, "service_class_code_differs")],
        None,
    ),
    "debit among credits": (
        with_header(service_class="220"),
        [(3, "service_class_code_wrong")],
        None,
    ),
    "credit among debits": (
        with_entry(code="22"),
        [(3, "service_class_code_wrong")],
        None,
    ),
    "trace order": (
        one(entry(2), entry(1)),
        [(4, "trace_number_not_ascending")],
        [],
    ),
    "trace of another bank": (
        with_entry(trace="090000510000001"),
        [(3, "trace_number_prefix_wrong")],
        None,
    ),
    "transaction code": (
        changed(with_entry(), 3, 2, "17"),
        [
            (3, "transaction_code_unknown"),
            (4, "batch_total_debit_wrong"),
            (5, "file_total_debit_wrong"),
        ],
        [(3, "transaction_code_unknown")],
    ),
    "transaction code no number": (
        with_entry(code="2X"),
        [
            (3, "transaction_code_invalid"),
            (4, "batch_entry_hash_wrong"),
            (4, "batch_total_credit_wrong"),
            (5, "file_entry_hash_wrong"),
            (5, "file_total_credit_wrong"),
        ],
        [(3, "transaction_code_invalid")],
    ),
    "transaction code of a return": (with_entry(code="26"), [(3, "addenda_missing")], None),
    "transaction code of a notification": (
        refusal(entry(indicator="1", amount=0)),
        [(3, "transaction_code_wrong"), (3, "amount_zero"), (4, "addenda_type_wrong")],
        [],
    ),
    "amount no number": (
        changed(with_entry(), 3, 35, " "),
        [
            (3, "amount_invalid"),
            (4, "batch_entry_hash_wrong"),
            (4, "batch_total_debit_wrong"),
            (5, "file_entry_hash_wrong"),
            (5, "file_total_debit_wrong"),
        ],
        [(3, "amount_invalid")],
    ),
    "count": (
        changed(RIGHT, 6, 10, "4"),
        [(6, "batch_entry_addenda_count_wrong")],
        None,
    ),
    "hash": (changed(RIGHT, 6, 20, "3"), [(6, "batch_entry_hash_wrong")], None),
    "debit": (changed(RIGHT, 6, 32, "1"), [(6, "batch_total_debit_wrong")], None),
    "credit": (changed(RIGHT, 6, 44, "1"), [(6, "batch_total_credit_wrong")], None),
    "company name": (with_header(company=""), [(2, "company_name_blank")], []),
    "company name of zeros": (with_header(company="000"), [(2, "company_name_blank")], []),
    "company id": (with_header(company_id=""), [(2, "company_identification_blank")], []),
    "company id of the control": (
        changed(RIGHT, 6, 45, "9"),
        [(6, "company_identification_differs")],
        None,
    ),
    "description": (
        with_header(description=""),
        [(2, "company_entry_description_blank")],
        [],
    ),
    "entry class": (
        with_header(sec="XYZ"),
        [(2, "standard_entry_class_code_unknown")],
        None,
    ),
    "entry class in lower case": (
        with_header(sec="ccd"),
        [(2, "lower_case"), (2, "standard_entry_class_code_unknown")],
        [(2, "standard_entry_class_code_invalid")],
    ),
    "ODFI of the control": (
        changed(RIGHT, 6, 87, "2"),
        [(6, "originating_dfi_identification_differs")],
        None,
    ),
    "batch number no number": (
        with_header(number="000000X"),
        [(2, "batch_number_invalid")],
        [(2, "batch_number_invalid"), (4, "batch_number_invalid")],
    ),
    "batch number of the control": (
        changed(RIGHT, 6, 94, "9"),
        [(6, "batch_number_differs")],
        None,
    ),
    "batch numbers out of order": (
        file(batch(entry(1), number="0000002"), batch(entry(2), number="0000001")),
        [(5, "batch_number_not_ascending")],
        [],
    ),
    "forward and return": (
        one(entry(1), entry(2, code="26", indicator="1"), raw.dishonored(f"{raw.ODFI}0000002")),
        [(6, "forward_and_return_mixed")],
        [(4, "forward_and_return_mixed")],
    ),
    "settlement date": (with_header(settlement="328"), [(2, "settlement_date_filled")], []),
    "settlement day that is none": (
        with_header(settlement="367"),
        [(2, "settlement_date_filled")],
        [(2, "settlement_date_invalid")],
    ),
    "originator status": (with_header(status="0"), [(2, "originator_status_code_wrong")], []),
    "no entry": (one(), [(3, "batch_empty")], []),
    "international": (with_header(sec="IAT"), [(2, "international_not_supported")], None),
    "date that is none": (
        with_header(effective="260230"),
        [(2, "effective_entry_date_invalid")],
        None,
    ),
}

ENTRY: Cases = {
    "unknown RDFI": (
        with_entry(rdfi="99000051", check="8"),
        [(3, "receiving_dfi_identification_unknown")],
        [],
    ),
    "date too late": (
        with_header(effective="261124"),
        [(2, "effective_entry_date_late")],
        [],
    ),
    "no amount": (with_entry(amount=0), [(3, "amount_zero")], None),
    "prenote with an amount": (with_entry(code="28"), [(3, "amount_not_zero")], None),
    "notification with an amount": (
        refusal(entry(code="26", indicator="1")),
        [(3, "amount_not_zero")],
        None,
    ),
    "addenda not announced": (
        one(entry(), raw.addenda_05()),
        [(4, "addenda_unexpected")],
        [(3, "addenda_unexpected")],
    ),
    "addenda missing": (with_entry(indicator="1"), [(3, "addenda_missing")], None),
    "addenda indicator": (
        with_entry(indicator="X"),
        [
            (3, "addenda_record_indicator_invalid"),
            (4, "batch_entry_hash_wrong"),
            (4, "batch_total_debit_wrong"),
            (5, "file_entry_hash_wrong"),
            (5, "file_total_debit_wrong"),
        ],
        [(3, "addenda_record_indicator_invalid")],
    ),
    "addenda type": (
        one(entry(indicator="1"), raw.addenda_05(kind="02")),
        [(4, "addenda_type_unknown")],
        None,
    ),
    "addenda sequence": (
        one(entry(indicator="1"), raw.addenda_05(number="0002")),
        [(4, "addenda_sequence_wrong")],
        None,
    ),
    "addenda of another entry": (
        one(entry(indicator="1"), raw.addenda_05(2)),
        [(4, "addenda_trace_wrong")],
        None,
    ),
    "two addenda": (
        one(entry(indicator="1"), raw.addenda_05(), raw.addenda_05(number="0002")),
        [(5, "addenda_too_many")],
        None,
    ),
    "no name": (
        one(entry(name="", discretionary="S"), sec="WEB"),
        [(3, "individual_name_blank")],
        [],
    ),
    "return without addenda": (
        with_entry(code="36"),
        [(3, "addenda_missing")],
        None,
    ),
    "notification without addenda": (
        one(entry(code="26", amount=0), sec="COR"),
        [(3, "addenda_missing")],
        None,
    ),
    "return type": (
        one(entry(code="26", indicator="1"), raw.addenda_05()),
        [(4, "addenda_type_wrong")],
        [],
    ),
    "notification in another class": (
        one(entry(code="26", indicator="1", amount=0), raw.refused(TRACE)),
        [(4, "addenda_type_wrong")],
        None,
    ),
    "original trace": (
        changed(dishonor(), 4, 7, " " * 15),
        [(4, "original_entry_trace_number_invalid")],
        None,
    ),
    "trace of the addenda": (
        changed(dishonor(), 4, 94, "9"),
        [(4, "addenda_trace_wrong")],
        None,
    ),
    "return code": (dishonor(code="R65"), [(4, "return_code_unknown")], None),
    "change code": (refusal(code="C60"), [(4, "change_code_unknown")], None),
    "check digit": (with_entry(check="6"), [(3, "check_digit_wrong")], None),
    "debit of a loan": (with_entry(code="55"), [(3, "debit_not_allowed")], []),
    "credit over the web": (
        one(entry(code="22", discretionary="S"), sec="WEB", service_class="220"),
        [(3, "credit_not_allowed")],
        [],
    ),
}

OURS: Cases = {
    "payment type": (
        one(entry(), sec="WEB"),
        [(3, "payment_type_code_missing")],
        [],
    ),
    "no account": (with_entry(account=""), [(3, "dfi_account_number_blank")], []),
    "no business name": (with_entry(name=""), [(3, "individual_name_blank")], []),
    "lower case": (with_entry(name="Acme"), [(3, "lower_case")], []),
    "class that we do not send": (with_header(sec="TEL"), [(2, "sec_not_originated")], []),
    "trace used before": (
        file(batch(entry(1)), batch(entry(1), number="0000002")),
        [(6, "trace_number_repeated")],
        [],
    ),
    "no effective date": (
        with_header(effective=""),
        [(2, "effective_entry_date_missing")],
        [],
    ),
    "effective date before the file's": (
        with_header(effective="261119"),
        [(2, "effective_entry_date_past")],
        [],
    ),
    "effective date on a Saturday": (
        with_header(effective="261121"),
        [(2, "effective_entry_date_closed")],
        [],
    ),
    "same day above the limit": (
        one(entry(amount=1_000_000_01), effective="261120"),
        [(3, "same_day_limit")],
        [],
    ),
    "test credit of a dollar": (
        one(entry(code="22", amount=100), service_class="220", description="ACCTVERIFY"),
        [(3, "acctverify_amount")],
        [],
    ),
    "test debits above the credits": (
        one(
            entry(1, code="22", amount=10),
            entry(2, amount=11),
            service_class="200",
            description="ACCTVERIFY",
        ),
        [(5, "acctverify_not_covered")],
        [],
    ),
    "reserved positions": (changed(RIGHT, 14, 60, "X"), [(14, "reserved_invalid")], []),
}

ALL = {
    f"{kind}: {name}": case
    for kind, cases in {
        "file": WHOLE_FILE,
        "batch": BATCH,
        "entry": ENTRY,
        "ours": OURS,
    }.items()
    for name, case in cases.items()
}


@pytest.mark.parametrize(
    "lines",
    [
        RIGHT,
        dishonor(),
        refusal(),
        header(origin=" 091000019", destination="1234567890"),
        one(entry(amount=1_000_000_00), effective="261120"),
        one(entry(code="28", amount=0)),
        one(
            entry(code="22", discretionary="S"),
            sec="WEB",
            service_class="220",
            description="REVERSAL",
        ),
        one(entry(code="22"), service_class="220", effective="261124"),
        file(
            batch(entry(1, code="22", amount=99), service_class="220", description="ACCTVERIFY"),
            batch(entry(2, amount=99), description="ACCTVERIFY", number="0000002"),
        ),
        header(at="2245"),
    ],
)
def test_a_right_file_has_no_fault(lines):
    assert judged(lines) == faults(lines) == notes(lines) == []


@pytest.mark.parametrize("name", ALL)
def test_the_validator_names_it(name):
    lines, expected, _ = ALL[name]

    assert judged(lines) == expected


@pytest.mark.parametrize("name", ALL)
def test_the_reader_names_it(name):
    lines, expected, others = ALL[name]

    assert faults(lines) == (expected if others is None else others)


def test_what_is_named_is_in_the_list():
    named = {code for _, ours, theirs in ALL.values() for _, code in chain(ours, theirs or [])}

    assert {code for code in named if not code.endswith("_invalid")} <= set(MEANINGS)
    # Named elsewhere: inbound only, only in a flood, by terms, or of a kind of batch.
    assert set(MEANINGS) - named == {
        "framing_lost",
        "too_many_faults",
        "file_above_limit",
        "adv_not_supported",
        "sec_not_supported",
        "amount_above_limit",
        "corrected_data_blank",
        "trace_numbers_out_of_order",
        "return_transaction_code",
        "fill_missing",
    }


def _open_but_on_the_23rd(day):
    return day.weekday() < 5 and day.day != 23


def test_terms_of_a_rail_are_limits_too():
    assert judged(RIGHT, entry_max=14_999) == [
        (line, "amount_above_limit") for line in (3, 4, 8, 12)
    ]
    assert judged(RIGHT, file_max=44_999) == [(14, "file_above_limit")]
    assert judged(RIGHT, is_banking_day=_open_but_on_the_23rd) == [
        (line, "effective_entry_date_closed") for line in (2, 7, 11)
    ]
