"""Entries and addenda of an outbound batch: characters, transaction codes, amounts, names, traces.

`E` is a record of type 6, positions 1 to 94 of the rule book as 0 to 93.
"""

from __future__ import annotations

from collections.abc import Iterator

from networks.ach.nacha.validator import tables
from networks.ach.nacha.validator.tables import CREDIT, DEBIT, DIGITS, LIVE, RETURNED
from networks.ach.nacha.validator.terms import Terms

Found = Iterator[tuple[str, str]]  # a code of a fault, and a sentence or nothing

_DIRECTIONS_REFUSED = {"WEB": CREDIT}
_TEST_CREDIT_BELOW = 100
_NAMED = ("WEB", "TEL", "PPD", "CCD")


def fields(text: str) -> Found:
    """Fields of an entry that must be digits."""
    for name, part in (
        ("transaction_code", text[1:3]),
        ("receiving_dfi_identification", text[3:11]),
        ("check_digit", text[11]),
        ("amount", text[29:39]),
        ("trace_number", text[79:94]),
    ):
        if not DIGITS(part):
            yield f"{name}_invalid", ""
    if text[78] not in "01":
        yield "addenda_record_indicator_invalid", ""


def receiver(text: str, sec: str) -> Found:
    """Bank, account and name."""
    if not tables.is_bank(text[3:11]):
        yield "receiving_dfi_identification_unknown", ""
    if not tables.has_check_digit(text[3:12]):
        yield "check_digit_wrong", ""
    if tables.is_blank(text[12:29]):
        yield "dfi_account_number_blank", ""
    if sec in _NAMED and tables.is_blank(text[54:76]):
        yield "individual_name_blank", ""
    if sec == "WEB" and text[76:78] not in ("S ", "R "):
        yield "payment_type_code_missing", ""


def kind_of_entry(text: str, sec: str, service_class: str, description: str) -> Found:
    """Whether the transaction code fits the entry class, the service class and the addenda."""
    known = tables.TRANSACTION_CODES.get(text[1:3])
    if known is None:
        yield "transaction_code_unknown", ""
        return
    direction, kind = known
    if direction not in tables.SERVICE_CLASSES.get(service_class, (CREDIT, DEBIT)):
        yield "service_class_code_wrong", f"a {direction} in a batch of class {service_class}"
    if sec == "COR" and kind != RETURNED:
        yield "transaction_code_wrong", "a notification has the transaction code of a return"
    if kind == RETURNED and text[78] != "1":
        yield "addenda_missing", ""
    is_reversal = description.startswith("REVERSAL")
    if text[1:3] == tables.LOAN_DEBIT and not is_reversal:
        yield "debit_not_allowed", "a loan account is debited by a reversal only"
    if direction == _DIRECTIONS_REFUSED.get(sec) and kind != RETURNED and not is_reversal:
        yield "credit_not_allowed", f"{sec} credits are between persons"


def amount(text: str, sec: str, description: str, *, same_day: bool, terms: Terms) -> Found:
    """Zero where it must be, and within the limits (our own, but for the tests of accounts)."""
    cents = int(text[29:39])
    direction, kind = tables.TRANSACTION_CODES[text[1:3]]
    if kind == LIVE and not cents:
        yield "amount_zero", ""
    if cents and (sec == "COR" or kind not in (LIVE, RETURNED)):
        yield "amount_not_zero", ""
    if cents > terms.entry_max:
        yield "amount_above_limit", ""
    if same_day and kind == LIVE and cents > terms.same_day_max:
        yield "same_day_limit", ""
    if description == "ACCTVERIFY" and direction == CREDIT and cents >= _TEST_CREDIT_BELOW:
        yield "acctverify_amount", ""


def is_returned(text: str) -> bool:
    known = tables.TRANSACTION_CODES.get(text[1:3])
    return known is not None and known[1] == RETURNED


def addendum(text: str, entry: str, number: int, sec: str) -> Found:
    """The `number`-th addenda record after an entry: of our entries there is one at most."""
    if entry[78] != "1":
        yield "addenda_unexpected", ""
    if number > 1:
        yield "addenda_too_many", ""
    kind = text[1:3]
    expected = "05" if not is_returned(entry) else "98" if sec == "COR" else "99"
    if kind not in ("05", "98", "99"):
        yield "addenda_type_unknown", ""
    elif kind != expected:
        yield "addenda_type_wrong", f"type {expected} belongs here"
    elif kind == "05":
        yield from _addenda_05(text, entry, number)
    else:
        yield from _addenda_returned(text, entry, kind)


def _addenda_05(text: str, entry: str, number: int) -> Found:
    if not DIGITS(text[83:87]):
        yield "addenda_sequence_number_invalid", ""
    elif int(text[83:87]) != number:
        yield "addenda_sequence_wrong", ""
    if text[87:94] != entry[87:94]:
        yield "addenda_trace_wrong", ""


def _addenda_returned(text: str, entry: str, kind: str) -> Found:
    """What a bank of origin sends: dishonored returns, and refused notifications of change."""
    if not DIGITS(text[6:21]):
        yield "original_entry_trace_number_invalid", ""
    if not DIGITS(text[27:35]):
        yield "original_receiving_dfi_identification_invalid", ""
    if text[79:94] != entry[79:94]:
        yield "addenda_trace_wrong", ""
    yield from _refused_change(text) if kind == "98" else _dishonored(text)


def _dishonored(text: str) -> Found:
    if text[3:6] not in tables.DISHONOR_CODES:
        yield "return_code_unknown", f"{text[3:6]} does not dishonor a return"
    for name, part in (
        ("return_trace_number", text[38:53]),
        ("return_settlement_date", text[53:56]),
        ("return_reason_code", text[56:58]),
    ):
        if not DIGITS(part):
            yield f"{name}_invalid", ""
    if text[21:27].strip() or text[35:38].strip():
        yield "reserved_invalid", ""


def _refused_change(text: str) -> Found:
    if text[3:6] not in tables.REFUSAL_CODES:
        yield "change_code_unknown", f"{text[3:6]} does not refuse a notification"
    if not (text[64] == "C" and DIGITS(text[65:67])):
        yield "change_code_invalid", ""
    if not DIGITS(text[67:74]):
        yield "trace_sequence_number_invalid", ""
    if text[21:27].strip() or text[74:79].strip():
        yield "reserved_invalid", ""
