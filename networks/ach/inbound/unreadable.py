"""Entries that cannot be read: each is kept as it came, and goes to a person.

The codec names the fault of such an entry and yields no entry. What can be read of it is only what
helps a person to find out what it is about; nothing is applied by it.
"""

from __future__ import annotations

from datetime import date

from networks.ach.inbound import sorting
from networks.ach.inbound.sorting import Said
from networks.ach.nacha.entries import addenda_layout
from networks.ach.nacha.faults import Fault
from networks.ach.nacha.items import Item, parse
from networks.ach.nacha.records import BatchHeader, EntryDetail


def said(fault: Fault, raw: str, header: BatchHeader | None, near: date) -> Said:
    """What an entry that cannot be read says. `raw` is the entry and its addenda, as they came.

    It has no trace number, so that the bank may send it again, and then rightly.
    """
    text, *addenda = raw.split("\n")
    detail = EntryDetail(
        transaction_code=_number(text[1:3]),
        receiving_dfi_identification="",
        check_digit="",
        dfi_account_number="",
        amount=_number(text[29:39]),
        individual_identification_number="",
        individual_name="",
        discretionary_data="",
        addenda_record_indicator=0,
        trace_number="",
    )
    form = addenda_layout(addenda[0]) if addenda else None
    first = parse(form, addenda[0]) if form else None
    item = Item(fault.line, detail, (first,) if first else (), (fault,))
    return sorting.sort(item, header, near)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 0
