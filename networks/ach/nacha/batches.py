"""A batch while it is read: its entries with their addenda, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from networks.ach.nacha import codes, layout
from networks.ach.nacha.entries import (
    Numbered,
    addenda_layout,
    check_digit,
    is_plain,
    is_returned,
    judge,
)
from networks.ach.nacha.faults import Fault, Scope, fault
from networks.ach.nacha.items import Event, Item, parse, why_not
from networks.ach.nacha.records import BatchControl, BatchHeader, EntryDetail
from networks.ach.nacha.sums import Sums

# Of one entry. The classes that are read have at most one addenda record; the second is a fault.
_ADDENDA_KEPT = 10
_FAULTS_KEPT = 20
_TYPE_CODE_ENDS = 3

_MIRRORED = (
    "service_class_code",
    "company_identification",
    "originating_dfi_identification",
    "batch_number",
)


class Batch:
    """One batch. `header` is None when it cannot be read.

    What stands in a batch of which nothing can be used is counted and not yielded.
    """

    def __init__(self, header: BatchHeader | None) -> None:
        self.sums = Sums()
        self.doubtful = False  # whether an amount or a routing number could not be read
        self._header = header
        self._sec = header.standard_entry_class_code if header else ""
        # ADV: its entries and controls have other fields.
        self.is_advice = self._sec == codes.ADV or bool(
            header and header.service_class_code == codes.ADVICES
        )
        self._is_skipped = self.is_advice or self._sec not in codes.READ_SECS
        self._line = 0
        self._detail: EntryDetail | None = None
        self._addenda: list[Numbered] = []
        self._faults: list[Fault] = []
        self._addenda_unread = False
        self._trace = ""
        self._returned: bool | None = None
        self._mixed = False

    @property
    def takes_addenda(self) -> bool:
        """Whether an entry came, to which an addenda record can belong."""
        return self.sums.count > 0

    def begin(self, line: int) -> Iterator[Event]:
        """The batch header, and what is wrong with it."""
        header = self._header
        if header is None:
            return
        yield from self._judge_header(line, header)
        yield Item(line, header)

    def entry(self, line: int, text: str) -> Sequence[Event]:
        """A type 6 record. Gives the entry before it, which is complete now."""
        if self._is_skipped:
            self._count_roughly(text)
            return ()
        done = self.finish_entry()
        detail = parse(layout.ENTRY_DETAIL, text)
        if detail is None:
            self.doubtful = True
            self._count_roughly(text)
            return [*done, *why_not(layout.ENTRY_DETAIL, line, text, Scope.RECORD)]
        self._line, self._detail = line, detail
        self.sums.add_entry(
            detail.transaction_code, detail.receiving_dfi_identification, detail.amount
        )
        return [*done, *self._kept(self._judge_numbers(line, detail))]

    def addendum(self, line: int, text: str) -> Sequence[Event]:
        """A type 7 record. It is yielded with its entry."""
        self.sums.count += 1
        if self._is_skipped:
            return ()
        form = addenda_layout(text)
        if form is None:
            cut = len(text) < _TYPE_CODE_ENDS
            found = [fault(line, "record_short" if cut else "addenda_type_unknown")]
        elif (record := parse(form, text)) is None:
            found = why_not(form, line, text, Scope.RECORD)
        else:
            if len(self._addenda) < _ADDENDA_KEPT:
                self._addenda.append((line, record))
            return ()
        self._addenda_unread = True
        return self._kept(found)

    def finish_entry(self) -> Sequence[Event]:
        """The entry that has been read last, after its faults."""
        detail, addenda = self._detail, self._addenda
        if detail is None:
            self._forget_entry()
            return ()
        found: list[Fault] = []
        if not self._addenda_unread and (addenda or self._sec == codes.COR or not is_plain(detail)):
            found = self._kept(list(judge(self._sec, self._line, detail, addenda)))
        mixed = self._kept(self._judge_direction())
        kept = tuple(self._faults)
        item = Item(self._line, detail, tuple(record for _, record in addenda), kept)
        self._forget_entry()
        return [*found, *mixed, item]

    def end(self, line: int, control: BatchControl) -> Iterator[Fault]:
        """What the batch control says otherwise than the header and the entries."""
        if self._header and not self._is_skipped:
            for name in _MIRRORED:
                if getattr(self._header, name) != getattr(control, name):
                    yield fault(line, f"{name}_differs")
        if not self.doubtful:
            for name, detail in self.sums.differences(control):
                yield fault(line, f"batch_{name}_wrong", detail)

    def _judge_header(self, line: int, header: BatchHeader) -> Iterator[Fault]:
        sec = header.standard_entry_class_code
        if self.is_advice:
            yield fault(line, "adv_not_supported")
        elif sec == codes.IAT:
            yield fault(line, "international_not_supported")
        elif sec in codes.OTHER_SECS:
            yield fault(line, "sec_not_supported", f"{sec} entries are not read")
        elif sec not in codes.READ_SECS:
            yield fault(line, "standard_entry_class_code_unknown", f"{sec} is no entry class")
        elif header.service_class_code not in codes.SERVICE_CLASSES:
            yield fault(line, "service_class_code_unknown")

    def _judge_numbers(self, line: int, detail: EntryDetail) -> list[Fault]:
        found: list[Fault] = []
        trace = detail.trace_number
        if detail.check_digit != check_digit(detail.receiving_dfi_identification):
            found.append(fault(line, "check_digit_wrong"))
        if trace <= self._trace:
            found.append(fault(line, "trace_numbers_out_of_order"))
        self._trace = trace
        if self._header and not trace.startswith(self._header.originating_dfi_identification):
            found.append(fault(line, "trace_number_prefix_wrong"))
        is_debit = detail.transaction_code in codes.DEBITS
        if not is_debit and detail.transaction_code not in codes.CREDITS:
            self.doubtful = True
            found.append(fault(line, "transaction_code_unknown"))
        elif self._header and self._header.service_class_code == (
            codes.CREDITS_ONLY if is_debit else codes.DEBITS_ONLY
        ):
            found.append(fault(line, "service_class_code_wrong"))
        return found

    def _judge_direction(self) -> list[Fault]:
        returned = is_returned(self._addenda)
        former, self._returned = self._returned, returned
        if former in (None, returned) or self._mixed or self._addenda_unread:
            return []
        self._mixed = True
        return [fault(self._line, "forward_and_return_mixed")]

    def _kept(self, found: list[Fault]) -> list[Fault]:
        """The faults, which the entry will have as well: the first ones, however many there are."""
        if found:
            self._faults += found[: _FAULTS_KEPT - len(self._faults)]
        return found

    def _forget_entry(self) -> None:
        self._detail = None
        if self._addenda or self._faults:
            self._addenda, self._faults = [], []
        self._addenda_unread = False

    def _count_roughly(self, text: str) -> None:
        """An entry that cannot be used still counts, as far as its numbers can be read."""
        parts = text[1:3], text[3:11], text[29:39]
        if all(map(str.isdecimal, parts)) and not self.is_advice:
            self.sums.add_entry(int(parts[0]), parts[1], int(parts[2]))
        else:
            self.doubtful = True
            self.sums.count += 1
