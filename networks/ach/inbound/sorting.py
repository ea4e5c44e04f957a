"""What each record of a file from the bank is about: pure, before anything is looked up.

Sources: Nacha Operating Rules, Appendix Three (transaction codes), Four (returns, dishonored and
contested ones) and Five (notifications of change).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

from networks.ach.models.inbound import RecordKind
from networks.ach.nacha import codes
from networks.ach.nacha.dates import settlement_date
from networks.ach.nacha.faults import Scope
from networks.ach.nacha.items import Item
from networks.ach.nacha.records import (
    Addenda,
    Addenda98,
    Addenda98Refused,
    Addenda99,
    Addenda99Contested,
    Addenda99Dishonored,
    BatchHeader,
    EntryDetail,
)

_CORRECTED = "R74"
_RETURN_CODE = re.compile(r"R\d\d")
_UNKNOWN_RETURN = "return_code_unknown"


class Said(NamedTuple):
    """One record in our words. `amount` is cents; `settled` the banking day on which it settles.

    `original_trace` and `rdfi` (eight digits) name the entry that it is about. `reason` is why
    the entry had come back, in an answer to our dishonor. `information` of money that nobody asked
    for is the company that sends it. `account` has no blanks. With `faults`
    it is not applied.
    """

    line: int
    kind: RecordKind
    trace: str
    settled: date | None
    original_trace: str
    rdfi: str
    account: str
    amount: int
    is_debit: bool
    code: str
    company_id: str
    information: str
    reason: str
    faults: tuple[str, ...]


def sort(item: Item, header: BatchHeader | None, near: date) -> Said:
    """What an entry of a batch says. Days of the year are the nearest ones to `near`."""
    detail = item.record
    if not isinstance(detail, EntryDetail):
        raise TypeError("only entries are sorted")
    first = item.addenda[0] if item.addenda else None
    kind = _forward(detail)
    said = Said(
        line=item.line,
        kind=kind,
        trace=detail.trace_number,
        settled=_day(header.settlement_date if header else None, near),
        original_trace="",
        rdfi="",
        account=plain_account(detail.dfi_account_number),
        amount=detail.amount,
        is_debit=detail.transaction_code in codes.DEBITS,
        code="",
        company_id=header.company_identification if header else "",
        information=header.company_name if header and kind == RecordKind.RECEIVED else "",
        reason="",
        faults=_faults(item, first),
    )
    of_addenda = _OF_ADDENDA.get(type(first))
    return said._replace(**of_addenda(first)) if of_addenda else said


def plain_account(number: str) -> str:
    """An account number as it is compared: banks add and drop blanks."""
    return number.replace(" ", "")


def _forward(detail: EntryDetail) -> RecordKind:
    """An entry that is no answer to one of ours: money for us, or what nobody should send us."""
    is_credit = detail.transaction_code in codes.CREDITS & codes.LIVE
    return RecordKind.RECEIVED if is_credit and detail.amount else RecordKind.OTHER


def _faults(item: Item, first: Addenda | None) -> tuple[str, ...]:
    """What keeps an entry from being applied. A return with a code that we do not know brings the
    money back as any other does."""
    found = [fault.code for fault in item.faults if fault.scope is not Scope.NOTE]
    if isinstance(first, Addenda99) and _RETURN_CODE.fullmatch(first.return_reason_code):
        found = [code for code in found if code != _UNKNOWN_RETURN]
    return tuple(found)


def _day(day_of_year: int | None, near: date) -> date | None:
    try:
        return settlement_date(day_of_year, near) if day_of_year else None
    except ValueError:
        return None


Fields = Mapping[str, Any]


def _of_return(record: Addenda99) -> Fields:
    return {
        "kind": RecordKind.RETURN,
        "code": record.return_reason_code,
        "original_trace": record.original_entry_trace_number,
        "rdfi": record.original_receiving_dfi_identification,
        "information": record.addenda_information,
    }


def _of_dishonor(record: Addenda99Dishonored) -> Fields:
    return {
        "kind": RecordKind.DISHONORED,
        "code": record.dishonored_return_reason_code,
        "original_trace": record.original_entry_trace_number,
        "rdfi": record.original_receiving_dfi_identification,
        "information": record.return_trace_number,
        "reason": f"R{record.return_reason_code}",
    }


def _of_contest(record: Addenda99Contested) -> Fields:
    code = record.contested_dishonored_return_reason_code
    is_corrected = code == _CORRECTED
    return {
        "kind": RecordKind.CORRECTED_RETURN if is_corrected else RecordKind.CONTESTED,
        "code": code,
        "original_trace": record.original_entry_trace_number,
        "rdfi": record.original_receiving_dfi_identification,
        "information": record.return_trace_number,
        "reason": f"R{record.return_reason_code}",
    }


def _of_change(record: Addenda98) -> Fields:
    """Without the corrected data: account numbers stand in the raw record only, encrypted."""
    return {
        "kind": RecordKind.NOC,
        "code": record.change_code,
        "original_trace": record.original_entry_trace_number,
        "rdfi": record.original_receiving_dfi_identification,
    }


def _of_refused_change(record: Addenda98Refused) -> Fields:
    return {
        "kind": RecordKind.REFUSED_NOC,
        "code": record.refused_cor_code,
        "original_trace": record.original_entry_trace_number,
        "rdfi": record.original_receiving_dfi_identification,
        "reason": record.change_code,
    }


_OF_ADDENDA: Mapping[type[Any], Callable[[Any], Fields]] = MappingProxyType(
    {
        Addenda99: _of_return,
        Addenda99Dishonored: _of_dishonor,
        Addenda99Contested: _of_contest,
        Addenda98: _of_change,
        Addenda98Refused: _of_refused_change,
    }
)
