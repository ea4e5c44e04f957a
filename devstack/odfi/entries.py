"""For which single entries the operator answers with a return, and the code of it."""

from __future__ import annotations

from datetime import date

from devstack.odfi import calendar, layouts
from devstack.odfi.parts import Batch, Entry, is_blank, is_number

KNOWN_PREFIXES = frozenset(
    f"{number:02}" for number in (*range(1, 13), *range(21, 33), *range(61, 73))
)
# Banks of the stand-in's world that cannot be reached, by their eight digits.
UNREACHABLE = {"06100013": "R13", "06100032": "R32", "06100034": "R34"}
CREDIT_ONLY = frozenset({"CIE"})
DEBIT_ONLY = frozenset({"ARC", "BOC", "POP", "RCK", "TEL"})
NAMED = frozenset({"TEL", "WEB"})
PAYMENT_TYPES = {"WEB": frozenset({"R ", "S "}), "TEL": frozenset({"R ", "S ", "  "})}
ADDENDA_MAX = {"CCD": 1, "PPD": 1, "WEB": 1, "CIE": 1}


def refusal(batch: Batch, entry: Entry, processed: date) -> str:
    """The code of the first fault that sends a well-formed entry back; empty for a good one."""
    answers = _answering if entry.is_return else _forward
    return _routing(entry) or answers(batch, entry) or _date(batch, entry, processed)


def _routing(entry: Entry) -> str:
    if not is_number(entry.rdfi):
        return "R13"
    if entry.check != layouts.check_digit(entry.rdfi):
        return "R28"
    if entry.rdfi[:2] not in KNOWN_PREFIXES:
        return "R13"
    return UNREACHABLE.get(entry.rdfi, "")


def _forward(batch: Batch, entry: Entry) -> str:
    sec = batch.header["sec"]
    return (
        _amount(entry)
        or _direction(batch, entry)
        or _mandatory(sec, entry)
        or ("" if _has_right_addenda(sec, entry) else "R25")
    )


def _amount(entry: Entry) -> str:
    is_zero_kind = entry.code in layouts.PRENOTES or entry.code in layouts.ZERO_DOLLAR
    return "" if is_zero_kind == (entry.amount == 0) else "R19"


def _direction(batch: Batch, entry: Entry) -> str:
    if batch.text("description") == "REVERSAL":
        return ""
    sec, is_debit = batch.header["sec"], entry.code in layouts.DEBITS
    if is_debit and (entry.code[0] == "5" or sec in CREDIT_ONLY):
        return "R35"
    return "R36" if not is_debit and sec in DEBIT_ONLY else ""


def _mandatory(sec: str, entry: Entry) -> str:
    has_all = (
        not (sec in NAMED and is_blank(entry.name))
        and entry.account.strip()
        and entry.discretionary in PAYMENT_TYPES.get(sec, {entry.discretionary})
    )
    return "" if has_all else "R26"


def _has_right_addenda(sec: str, entry: Entry) -> bool:
    if entry.indicator != ("1" if entry.addenda else "0"):
        return False
    if len(entry.addenda) > ADDENDA_MAX.get(sec, 0):
        return False
    records = (layouts.ADDENDA.read(record) for record in entry.addenda)
    return all(
        found["type"] == "05"
        and found["sequence"] == f"{number:04}"
        and found["entry"] == entry.trace[-7:]
        for number, found in enumerate(records, start=1)
    )


def _answering(batch: Batch, entry: Entry) -> str:
    """The faults of returns and changes."""
    if batch.header["sec"] == "COR" and entry.amount:
        return "R19"
    kind = "98" if batch.header["sec"] == "COR" else "99"
    if entry.indicator != "1" or [record[1:3] for record in entry.addenda] != [kind]:
        return "R26"
    original = layouts.RETURN.read(entry.addenda[0])["original_trace"]
    return "R27" if is_blank(original) or not is_number(original) else ""


def _date(batch: Batch, entry: Entry, processed: date) -> str:
    effective = batch.effective
    if effective is None or entry.is_return:
        return ""
    is_debit = entry.code in layouts.DEBITS
    return "R18" if calendar.is_too_late(processed, effective, is_debit=is_debit) else ""
