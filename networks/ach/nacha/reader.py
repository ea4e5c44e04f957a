"""Reads a NACHA file as a stream: its records, and by name whatever is wrong with it.

It takes what real banks send: records without line ends, with CRLF, with trailing blanks cut off or
added, batches without their control, files without header, control or fill. What is missing is
named. It raises nothing for what a file holds, and needs the same memory for every length.

Faults come before the record that they are about, and those of totals at the end: nothing may be
applied before the last one has come. Sources: Nacha Operating Rules, Appendices Two to Five.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from networks.ach.nacha import layout
from networks.ach.nacha.batches import Batch
from networks.ach.nacha.faults import Fault, Scope, fault
from networks.ach.nacha.framing import Framing, Source
from networks.ach.nacha.items import Event, Item, parse, why_not
from networks.ach.nacha.layout import FILL, RECORD_LENGTH, RECORDS_PER_BLOCK
from networks.ach.nacha.records import FileControl
from networks.ach.nacha.sums import Sums

FILE_FAULTS_MAX = 1_000  # then nothing more is read: this is no NACHA file
# Returns repeat the effective entry date of the original, and nothing follows from it.
_NO_DATE = "effective_entry_date_invalid"


def read(source: Source) -> Iterator[Event]:
    """The records and the faults of `source`. Raises OSError when it cannot be read."""
    file_faults = 0
    for event in _File(Framing(source)).events():
        yield event
        if isinstance(event, Fault) and event.scope is Scope.FILE:
            file_faults += 1
            if file_faults == FILE_FAULTS_MAX:
                yield fault(event.line, "too_many_faults")
                return


class _File:
    """Where the reading stands: which records may come next, and what the file adds up to."""

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._line = 0
        self._records = 0
        self._has_header = False
        self._batch: Batch | None = None
        self._batches = 0
        self._sums = Sums()
        self._doubtful = False
        self._has_advices = False
        self._control: FileControl | None = None
        self._control_line = 0
        self._is_over = False
        self._lost = False

    def events(self) -> Iterator[Event]:
        of_type = {
            "1": self._file_header,
            "5": self._batch_header,
            "6": self._entry,
            "7": self._addendum,
            "8": self._batch_control,
            "9": self._file_control,
        }
        for line, text in self._framing:
            self._line = line
            self._records += 1
            if not self._has_header:
                yield from self._first(text)
            if len(text) > RECORD_LENGTH:
                yield fault(line, "record_long", f"the record has {len(text)} characters")
                continue
            if self._is_over and text != FILL:
                yield fault(line, "record_after_file_control")
                continue
            yield from of_type.get(text[0], self._unknown)(text)
            if self._lost:
                return
        yield from self._end()

    def _first(self, text: str) -> Iterator[Event]:
        self._has_header = True
        if text[0] != "1":
            yield fault(self._line, "file_header_missing")

    def _file_header(self, text: str) -> Iterable[Event]:
        if self._records > 1:
            return [fault(self._line, "file_header_repeated")]
        header = parse(layout.FILE_HEADER, text)
        if header is None:
            return why_not(layout.FILE_HEADER, self._line, text, Scope.FILE)
        return [Item(self._line, header)]

    def _batch_header(self, text: str) -> Iterator[Event]:
        if self._batch:
            yield from self._close(self._batch)
            yield fault(self._line, "batch_control_missing")
        self._batches += 1
        header = parse(layout.BATCH_HEADER, text)
        if header is None:
            faults = why_not(layout.BATCH_HEADER, self._line, text, Scope.BATCH)
            yield from faults
            if [fault.code for fault in faults] == [_NO_DATE]:
                header = parse(layout.BATCH_HEADER, text[:69] + " " * 6 + text[75:])
        self._batch = Batch(header)
        yield from self._batch.begin(self._line)

    def _entry(self, text: str) -> Iterable[Event]:
        if self._batch is None:
            return [fault(self._line, "record_order", "an entry outside a batch")]
        return self._batch.entry(self._line, text)

    def _addendum(self, text: str) -> Iterable[Event]:
        if self._batch is None or not self._batch.takes_addenda:
            return [fault(self._line, "record_order", "an addenda record without an entry")]
        return self._batch.addendum(self._line, text)

    def _batch_control(self, text: str) -> Iterator[Event]:
        batch = self._batch
        if batch is None:
            yield fault(self._line, "record_order", "a batch control without a batch")
            return
        yield from self._close(batch)
        if batch.is_advice:
            return
        control = parse(layout.BATCH_CONTROL, text)
        if control is None:
            yield from why_not(layout.BATCH_CONTROL, self._line, text, Scope.BATCH)
            return
        yield from batch.end(self._line, control)
        yield Item(self._line, control)

    def _file_control(self, text: str) -> Iterator[Event]:
        if text == FILL:
            if not self._is_over:
                yield fault(self._line, "record_order", "fill before the file control")
            return
        if self._batch:
            yield from self._close(self._batch)
            yield fault(self._line, "batch_control_missing")
        self._is_over = True
        self._control_line = self._line
        if self._has_advices:  # then the file control has other fields, too
            return
        self._control = parse(layout.FILE_CONTROL, text)
        if self._control is None:
            yield from why_not(layout.FILE_CONTROL, self._line, text, Scope.FILE)
            return
        yield from self._compare(self._control)
        yield Item(self._line, self._control)

    def _unknown(self, _text: str) -> Iterable[Event]:
        if not self._framing.unbroken:
            return [fault(self._line, "record_type_unknown")]
        self._lost = True
        return [fault(self._line, "framing_lost")]

    def _close(self, batch: Batch) -> Iterable[Event]:
        """The end of a batch, with its control or without: its last entry."""
        events = batch.finish_entry()
        self._sums.add(batch.sums)
        self._doubtful |= batch.doubtful
        self._has_advices |= batch.is_advice
        self._batch = None
        return events

    def _compare(self, control: FileControl) -> Iterator[Fault]:
        if control.batch_count != self._batches:
            detail = f"the batch count says {control.batch_count}, there are {self._batches}"
            yield fault(self._line, "batch_count_wrong", detail)
        if not self._doubtful:
            for name, detail in self._sums.differences(control):
                yield fault(self._line, f"file_{name}_wrong", detail)

    def _end(self) -> Iterator[Event]:
        if not self._records:
            yield fault(1, "file_empty")
            return
        if self._batch:
            yield from self._close(self._batch)
            yield fault(self._line, "batch_control_missing")
        if not self._is_over:
            yield fault(self._line, "file_control_missing")
            return
        blocks = -(-self._records // RECORDS_PER_BLOCK)
        if self._control and self._control.block_count != blocks:
            detail = f"the block count says {self._control.block_count}, there are {blocks}"
            yield fault(self._control_line, "block_count_wrong", detail)
        if self._records % RECORDS_PER_BLOCK:
            yield fault(self._line, "fill_missing")
