"""What must hold between an entry, its addenda and its batch, in a file that came in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from networks.ach.nacha import codes, layout
from networks.ach.nacha.faults import Fault, fault
from networks.ach.nacha.layout import Layout
from networks.ach.nacha.records import (
    Addenda,
    Addenda05,
    Addenda98,
    Addenda98Refused,
    EntryDetail,
)

_WEIGHTS = (3, 7, 1, 3, 7, 1, 3, 7)
_WITHOUT_CORRECTED_DATA = frozenset(("C13",))
Numbered = tuple[int, Addenda]  # an addenda record after its line


@lru_cache(maxsize=4096)
def check_digit(receiving_dfi_identification: str) -> str:
    """The ninth digit of a routing number, by its first eight."""
    weighted = zip(_WEIGHTS, map(int, receiving_dfi_identification), strict=True)
    return str(-sum(weight * digit for weight, digit in weighted) % 10)


def addenda_layout(text: str) -> Layout[Any] | None:
    """The layout of a type 7 record by its type and reason code, or None for one we do not know."""
    kind, code = text[1:3], text[3:6]
    if kind == "99":
        if codes.is_dishonor(code):
            return layout.ADDENDA_99_DISHONORED
        return layout.ADDENDA_99_CONTESTED if codes.is_contest(code) else layout.ADDENDA_99
    if kind == "98":
        return layout.ADDENDA_98_REFUSED if codes.is_refusal(code) else layout.ADDENDA_98
    return layout.ADDENDA_05 if kind == "05" else None


def is_plain(detail: EntryDetail) -> bool:
    """Whether an entry without addenda is a forward one about which nothing is left to judge."""
    return (
        not detail.addenda_record_indicator
        and detail.amount > 0
        and detail.transaction_code in codes.LIVE
    )


def judge(sec: str, line: int, detail: EntryDetail, addenda: list[Numbered]) -> Iterator[Fault]:
    """The faults of an entry with its addenda."""
    if not addenda and (
        detail.addenda_record_indicator or detail.transaction_code in codes.RETURNS
    ):
        yield fault(line, "addenda_missing")
        return
    if addenda and not detail.addenda_record_indicator:
        yield fault(line, "addenda_unexpected")
    if addenda and not isinstance(addenda[0][1], Addenda05):
        yield from _of_returned(sec, line, detail, addenda)
    else:
        yield from _of_forward(sec, line, detail, addenda)


def _of_forward(
    sec: str, line: int, detail: EntryDetail, addenda: list[Numbered]
) -> Iterator[Fault]:
    if sec == codes.COR:
        yield fault(line, "addenda_missing", "a notification of change has no addenda 98")
    if detail.transaction_code in codes.LIVE and not detail.amount:
        yield fault(line, "amount_zero")
    if detail.transaction_code in codes.WITHOUT_AMOUNT and detail.amount:
        yield fault(line, "amount_not_zero")
    if len(addenda) > 1:
        yield fault(addenda[1][0], "addenda_too_many")
    yield from _of_texts(detail, addenda)


def _of_texts(detail: EntryDetail, addenda: list[Numbered]) -> Iterator[Fault]:
    for number, (place, record) in enumerate(addenda, start=1):
        if not isinstance(record, Addenda05):
            yield fault(place, "addenda_type_wrong")
            continue
        if record.addenda_sequence_number != number:
            yield fault(place, "addenda_sequence_wrong")
        if record.entry_detail_sequence_number != detail.trace_number[8:]:
            yield fault(place, "addenda_trace_wrong")


def _of_returned(
    sec: str, line: int, detail: EntryDetail, addenda: list[Numbered]
) -> Iterator[Fault]:
    """A return or a notification of change: one addenda record, with the entry's trace number."""
    place, record = addenda[0]
    if len(addenda) > 1:
        yield fault(addenda[1][0], "addenda_too_many")
    if detail.transaction_code not in codes.RETURNS:
        yield fault(line, "return_transaction_code")
    if isinstance(record, Addenda05):
        return
    if record.trace_number != detail.trace_number:
        yield fault(place, "addenda_trace_wrong")
    if isinstance(record, Addenda98 | Addenda98Refused):
        yield from _of_change(sec, line, detail, place, record)
        return
    if sec == codes.COR:
        yield fault(place, "addenda_type_wrong", "a return among notifications of change")
    known = codes.RETURN_CODES | codes.DISHONORED_CODES | codes.CONTESTED_CODES
    if record[0] not in known:
        yield fault(place, "return_code_unknown", f"{record[0]} is no return code")


def _of_change(
    sec: str, line: int, detail: EntryDetail, place: int, record: Addenda98 | Addenda98Refused
) -> Iterator[Fault]:
    if sec != codes.COR:
        yield fault(place, "addenda_type_wrong", f"a notification of change in a {sec} batch")
    if detail.amount:
        yield fault(line, "amount_not_zero")
    if record.change_code not in codes.CHANGE_CODES:
        yield fault(place, "change_code_unknown", f"{record.change_code} is no change code")
    if not record.corrected_data and record.change_code not in _WITHOUT_CORRECTED_DATA:
        yield fault(place, "corrected_data_blank")


def is_returned(addenda: list[Numbered]) -> bool:
    """Whether an entry with these addenda is on its way back."""
    return bool(addenda) and not isinstance(addenda[0][1], Addenda05)
