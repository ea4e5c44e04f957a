"""What can be wrong with a bank statement: stable codes, what to do, and what is set aside."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

FAULTS_MAX = 1_000  # then nothing more is read: this is no statement


class Scope(StrEnum):
    """How much cannot be used. A note takes nothing away."""

    FILE = "file"
    STATEMENT = "statement"
    NOTE = "note"


class Fault(NamedTuple):
    """One thing that is wrong.

    `position` is that of `items.Line`: a record of BAI2 or an entry of camt, counted from 1.
    `statement` counts the statements of the file from 1; it is 0 where the fault belongs to none.
    `detail` is for people: what is wrong, and what to do. It holds no account number and no name.
    """

    position: int
    statement: int
    code: str
    detail: str
    scope: Scope


def _then(what_to_do: str, faults: dict[str, str]) -> dict[str, str]:
    return {code: f"{words}: {what_to_do}." for code, words in faults.items()}


_AGAIN = "fetch the file again, or ask the bank for the whole of it"
_CORRECTED = "ask the bank for a corrected file"

_FILE = {
    **_then(
        _AGAIN,
        {
            "file_empty": "The file is empty",
            "file_truncated": "The file ends too early",
            "file_header_missing": "The file does not begin with a file header (01)",
            "xml_malformed": "The file is not well-formed XML",
            "message_empty": "The message has no statement, report or notification",
        },
    ),
    **_then(
        _CORRECTED,
        {
            "too_many_faults": "Nothing more was read after so many faults",
            "file_header_invalid": "The file header (01) cannot be read",
            "record_after_file_trailer": "Something follows the file trailer (99)",
            "record_order": "This record may not stand here",
            "record_type_unknown": "No record of BAI2 begins like this",
            "record_long": "The record is longer than any record may be",
            "characters": "A record has characters that are no text",
            "trailer_invalid": "A trailer (49, 98 or 99) cannot be read",
            "group_total_wrong": "The group's control total differs from its accounts",
            "group_accounts_wrong": "The group's count of accounts differs",
            "group_records_wrong": "The group's count of records differs",
            "file_total_wrong": "The file's control total differs from its groups",
            "file_groups_wrong": "The file's count of groups differs",
            "file_records_wrong": "The file's count of records differs",
            "xml_too_deep": "Elements are nested deeper than in any statement",
            "xml_too_wide": "A part of the message is larger than any may be",
        },
    ),
    "file_too_large": "The file is larger than any statement: ask the bank for a file a day.",
    "too_many_lines": "The file has too many lines: ask the bank for a file for each account.",
    "format_unknown": "This is neither BAI2 nor camt.052, 053 or 054: check which file it is.",
    "encoding_unsupported": "The text is not UTF-8: ask the bank to send UTF-8 or ASCII.",
    "version_unsupported": "The file is not version 2 of BAI: ask the bank for BAI2.",
    "doctype_refused": "The file declares a document type, as no statement does: do not use it, "
    "and ask the bank where it came from.",
    "message_unsupported": "The message is none that is read: ask the bank for camt.052, camt.053 "
    "or camt.054, version 02 to 13.",
}
_STATEMENT = {
    **_then(
        _CORRECTED,
        {
            "account_header_invalid": "The account header (03) cannot be read",
            "account_missing": "The statement does not say its account",
            "statement_id_missing": "The statement has no identification",
            "statement_repeated": "The file has the same statement twice",
            "date_invalid": "A date is missing or is no day of the calendar",
            "number_invalid": "A count or a sequence number is no number",
            "currency_differs": "An amount is in another currency than the account",
            "amount_missing": "An amount is missing",
            "amount_invalid": "An amount is no number, or too large",
            "amount_decimals": "An amount has decimals that may not be there",
            "amount_negative": "The amount of a line has a sign of its own",
            "direction_invalid": "An entry or balance is neither credit nor debit",
            "status_invalid": "The status of an entry is missing",
            "type_code_invalid": "A type code is not three digits",
            "funds_type_invalid": "The funds type, or what follows it, cannot be read",
            "reference_long": "A reference is longer than any reference may be",
            "code_long": "A type code or a return code is longer than any may be",
            "part_misplaced": "A part of the statement is there twice, or behind an entry",
            "dates_reversed": "The statement begins after the day that it closes",
            "opening_missing": "The opening balance is missing",
            "closing_missing": "The closing balance is missing",
            "balance_repeated": "A balance stands there twice with different amounts or days",
            "balance_wrong": "The opening balance and the lines do not give the closing balance",
            "credits_wrong": "The total of credits differs from the lines",
            "credit_count_wrong": "The number of credits differs from the lines",
            "debits_wrong": "The total of debits differs from the lines",
            "debit_count_wrong": "The number of debits differs from the lines",
            "entries_wrong": "The total of all entries differs from the lines",
            "entry_count_wrong": "The number of all entries differs from the lines",
            "account_total_wrong": "The account's control total differs from its amounts",
            "account_records_wrong": "The account's count of records differs",
            "details_wrong": "The payments in an entry do not give its amount",
            "detail_count_wrong": "The number of payments in an entry differs",
        },
    ),
    "currency_unsupported": "The account is not in US dollars: take it out of what the bank sends.",
    "entry_not_booked": "An entry is not booked yet: ask the bank for booked entries only.",
    "type_code_no_direction": "A type code says neither credit nor debit: ask the bank about it.",
    "opening_negative": "The account was overdrawn at the opening: clear it with the bank.",
    "too_many_details": "An entry has too many payments: ask the bank for smaller batches.",
    "pages_unsupported": "The statement goes on in another message: ask the bank for a single one.",
    "group_status_unsupported": "The group deletes, corrects or tests: ask the bank what holds.",
}
_NOTE = {
    "byte_order_mark": "The file begins with a byte order mark.",
    "type_code_unknown": "The type code of a line is none that we know.",
    "type_code_summary": "A line has the type code of a total.",
    "line_repeated": "A line says the same as one before it.",
    "text_cut": "A text was longer than is kept.",
    "closing_negative": "The account is overdrawn: the next statement will be set aside.",
    "availability_differs": "The funds available by day do not give the amount.",
    "copy": "The bank marks the statement as a copy or a duplicate.",
}

SCOPES = MappingProxyType(
    {
        **dict.fromkeys(_FILE, Scope.FILE),
        **dict.fromkeys(_STATEMENT, Scope.STATEMENT),
        **dict.fromkeys(_NOTE, Scope.NOTE),
    }
)
SENTENCES = MappingProxyType({**_FILE, **_STATEMENT, **_NOTE})


def fault(code: str, *, position: int = 0, statement: int = 0, detail: str = "") -> Fault:
    """A fault by its code, with its usual sentence where `detail` has nothing more to say."""
    return Fault(position, statement, code, detail or SENTENCES[code], SCOPES[code])


def differs(code: str, *, said: int, found: int, position: int, statement: int = 0) -> Fault:
    """A total in cents, or a count, that does not fit."""
    detail = f"{SENTENCES[code]} It says {said}, there is {found}."
    return fault(code, position=position, statement=statement, detail=detail)
