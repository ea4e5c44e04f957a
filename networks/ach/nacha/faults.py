"""What can be wrong with a NACHA file: stable codes, and what has to be set aside for each.

A field whose characters the rule book does not allow there has the code `<field>_invalid`, by the
name of the field in `records` or of what always stands there (`record_size_invalid`).
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class Scope(StrEnum):
    """How much of the file cannot be used. A note takes nothing away."""

    FILE = "file"
    BATCH = "batch"
    RECORD = "record"
    NOTE = "note"


class Fault(NamedTuple):
    """One thing that is wrong, at a line counted from 1. A record of a file without line ends
    counts as a line.

    `detail` is for people. It holds no account number and no name.
    """

    line: int
    code: str
    detail: str
    scope: Scope


_FILE = {
    "file_empty": "the file has no record",
    "file_header_missing": "the file does not begin with a file header",
    "file_header_repeated": "a second file header",
    "file_control_missing": "the file does not end with a file control",
    "record_after_file_control": "something other than fill follows the file control",
    "record_order": "this record may not stand here",
    "record_type_unknown": "a record begins with one of 1, 5, 6, 7, 8 and 9",
    "record_short": "the record ends in the middle of a field",
    "record_long": "the record has more than 94 characters",
    "framing_lost": "what follows does not divide into records",
    "too_many_faults": "no more was read after so many faults",
    "batch_count_wrong": "the batch count differs from the batches",
    "block_count_wrong": "the block count differs from the records",
    "block_unfilled": "the last block is not filled up with nines",
    "file_entry_addenda_count_wrong": "the file's entry and addenda count differs",
    "file_entry_hash_wrong": "the file's entry hash differs from the entries",
    "file_total_debit_wrong": "the file's total debit differs from the entries",
    "file_above_limit": "the file's debits or credits are above the limit of a file",
    "file_total_credit_wrong": "the file's total credit differs from the entries",
}
_BATCH = {
    "batch_control_missing": "the batch does not end with a batch control",
    "batch_empty": "the batch has no entry",
    "batch_entry_addenda_count_wrong": "the batch's entry and addenda count differs",
    "batch_entry_hash_wrong": "the batch's entry hash differs from the entries",
    "batch_total_debit_wrong": "the batch's total debit differs from the entries",
    "batch_total_credit_wrong": "the batch's total credit differs from the entries",
    "service_class_code_differs": "header and control have different service classes",
    "company_identification_differs": "header and control have different companies",
    "originating_dfi_identification_differs": "header and control have different banks",
    "batch_number_differs": "header and control have different batch numbers",
    "batch_number_not_ascending": "a batch number is not above the one before",
    "service_class_code_unknown": "the service class is not 200, 220 or 225",
    "service_class_code_wrong": "an entry does not fit the batch's service class",
    "standard_entry_class_code_unknown": "no such standard entry class",
    "sec_not_originated": "entries of this standard entry class are not sent",
    "sec_not_supported": "entries of this standard entry class are not read",
    "international_not_supported": "international entries (IAT) are not supported",
    "adv_not_supported": "automated accounting advices (ADV) are not supported",
    "forward_and_return_mixed": "forward entries and returned ones in one batch",
    "company_name_blank": "the company name is missing",
    "company_identification_blank": "the company identification is missing",
    "company_entry_description_blank": "the company entry description is missing",
    "originator_status_code_wrong": "the originator status code is not 1",
    "originating_dfi_identification_unknown": "no bank has such a number",
    "settlement_date_filled": "only the operator fills in the settlement date",
    "trace_number_not_ascending": "a trace number is not above the one before",
    "trace_number_repeated": "a trace number stands in the file twice",
    "trace_number_prefix_wrong": "a trace number does not begin with the sending bank",
    "effective_entry_date_missing": "the effective entry date is missing",
    "effective_entry_date_past": "the effective entry date is before the file's date",
    "effective_entry_date_late": "the effective entry date is later than allowed",
    "effective_entry_date_closed": "the effective entry date is no banking day",
    "acctverify_not_covered": "test debits are larger than the test credits",
}
_RECORD = {
    "characters": "a character that is not printable ASCII",
    "lower_case": "lower case",
    "transaction_code_unknown": "no such transaction code",
    "transaction_code_wrong": "this transaction code may not stand here",
    "check_digit_wrong": "the check digit does not fit the routing number",
    "receiving_dfi_identification_unknown": "no bank has such a number",
    "dfi_account_number_blank": "the account number is missing",
    "individual_name_blank": "the name is missing",
    "payment_type_code_missing": "WEB needs payment type S or R",
    "amount_zero": "the amount is zero",
    "amount_not_zero": "a prenote or notification has an amount",
    "amount_above_limit": "the amount is above the limit of an entry",
    "same_day_limit": "the amount is above the limit of same-day entries",
    "acctverify_amount": "a test credit is a dollar or more",
    "debit_not_allowed": "this account or class cannot be debited",
    "credit_not_allowed": "this class cannot carry a credit",
    "addenda_missing": "the addenda record is missing",
    "addenda_unexpected": "an addenda record that the entry does not announce",
    "addenda_type_unknown": "no such type of addenda record",
    "addenda_type_wrong": "this type of addenda record may not stand here",
    "addenda_too_many": "more addenda records than the entry may have",
    "addenda_sequence_wrong": "the addenda sequence number is not the next one",
    "addenda_trace_wrong": "the addenda record names another entry",
    "return_code_unknown": "no such return code",
    "change_code_unknown": "no such change code",
    "corrected_data_blank": "the corrected data is missing",
}
_NOTE = {
    "trace_numbers_out_of_order": "a trace number is not above the one before",
    "return_transaction_code": "a returned entry has the transaction code of a forward one",
    "fill_missing": "the last block is not filled up with nines",
}

SCOPES = MappingProxyType(
    {
        **dict.fromkeys(_FILE, Scope.FILE),
        **dict.fromkeys(_BATCH, Scope.BATCH),
        **dict.fromkeys(_RECORD, Scope.RECORD),
        **dict.fromkeys(_NOTE, Scope.NOTE),
    }
)
MEANINGS = MappingProxyType({**_FILE, **_BATCH, **_RECORD, **_NOTE})


def fault(line: int, code: str, detail: str = "") -> Fault:
    """A fault by its code, with its usual words where there is nothing more to say."""
    return Fault(line, code, detail or MEANINGS[code], SCOPES[code])


def invalid_field(line: int, name: str, scope: Scope) -> Fault:
    """A field whose characters are not allowed there."""
    words = name.replace("_", " ")
    return Fault(line, f"{name}_invalid", f"the {words} cannot be read", scope)


def characters(line: int, position: int, scope: Scope) -> Fault:
    """A byte that is not printable ASCII, at a position counted from 1."""
    detail = f"position {position} is not printable ASCII"
    return Fault(line, "characters", detail, scope)
