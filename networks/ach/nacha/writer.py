"""Writes a NACHA file as a stream: it adds up, counts, numbers nothing and fills the last block.

The caller chooses batches, numbers and where to split; what does not fit is refused. Entries are
never all in memory. Sources: Nacha Operating Rules, Appendix Three (record formats, hash, counts,
blocks) and Appendix Two (order of trace and batch numbers).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from networks.ach.nacha import codes, layout
from networks.ach.nacha.layout import FILL, RECORDS_PER_BLOCK, Layout, R
from networks.ach.nacha.records import (
    Addenda,
    Addenda05,
    Addenda98,
    Addenda98Refused,
    Addenda99,
    Addenda99Contested,
    Addenda99Dishonored,
    BatchControl,
    BatchHeader,
    Entry,
    EntryDetail,
    FileControl,
    FileHeader,
)
from networks.ach.nacha.sums import HASH_MODULUS, Sums

_LINES_TOGETHER = 1_000
_TRANSACTION_CODES = {
    codes.MIXED: codes.CREDITS | codes.DEBITS,
    codes.CREDITS_ONLY: codes.CREDITS,
    codes.DEBITS_ONLY: codes.DEBITS,
}
_ADDENDA: dict[type[Any], Layout[Any]] = {
    Addenda05: layout.ADDENDA_05,
    Addenda98: layout.ADDENDA_98,
    Addenda98Refused: layout.ADDENDA_98_REFUSED,
    Addenda99: layout.ADDENDA_99,
    Addenda99Dishonored: layout.ADDENDA_99_DISHONORED,
    Addenda99Contested: layout.ADDENDA_99_CONTESTED,
}


class DoesNotFit(ValueError):
    """The rule book has no place for what was to be written at `line`. What has been written so far
    is no file and must not be sent. The message names fields, never their values."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


class Sink(Protocol):
    """A file opened for writing bytes."""

    def write(self, data: bytes, /) -> object: ...


def write(
    sink: Sink, header: FileHeader, batches: Iterable[tuple[BatchHeader, Iterable[Entry]]]
) -> FileControl:
    """A whole file. Raises DoesNotFit, and OSError when it cannot be written."""
    writer = Writer(sink, header)
    for batch, entries in batches:
        writer.batch(batch, entries)
    return writer.close()


class Writer:
    """A file while it is written: batch by batch, then `close`."""

    def __init__(self, sink: Sink, header: FileHeader, *, line_end: str = "\n") -> None:
        """Raises DoesNotFit."""
        self._sink = sink
        self._line_end = line_end
        self._line = 0
        self._lines: list[str] = []
        self._sums = Sums()
        self._batches = 0
        self._batch_number = -1
        self._append(layout.FILE_HEADER, header)

    def batch(self, header: BatchHeader, entries: Iterable[Entry]) -> BatchControl:
        """Writes a batch and gives its totals. Raises DoesNotFit."""
        self._check_header(header)
        self._append(layout.BATCH_HEADER, header)
        sums = self._entries(header, entries)
        control = BatchControl(
            service_class_code=header.service_class_code,
            entry_addenda_count=sums.count,
            entry_hash=sums.hash % HASH_MODULUS,
            total_debit_entry_dollar_amount=sums.debit,
            total_credit_entry_dollar_amount=sums.credit,
            company_identification=header.company_identification,
            message_authentication_code="",
            originating_dfi_identification=header.originating_dfi_identification,
            batch_number=header.batch_number,
        )
        self._append(layout.BATCH_CONTROL, control)
        self._sums.add(sums)
        self._batches += 1
        self._batch_number = header.batch_number
        return control

    def close(self) -> FileControl:
        """Writes the file control and fills the last block. Raises DoesNotFit."""
        if not self._batches:
            raise self._problem("a file without a batch")
        control = FileControl(
            batch_count=self._batches,
            block_count=-(-(self._line + 1) // RECORDS_PER_BLOCK),
            entry_addenda_count=self._sums.count,
            entry_hash=self._sums.hash % HASH_MODULUS,
            total_debit_entry_dollar_amount=self._sums.debit,
            total_credit_entry_dollar_amount=self._sums.credit,
        )
        self._append(layout.FILE_CONTROL, control)
        self._lines += [FILL] * (-self._line % RECORDS_PER_BLOCK)
        self._flush()
        return control

    def _entries(self, header: BatchHeader, entries: Iterable[Entry]) -> Sums:
        sums = Sums()
        allowed = _TRANSACTION_CODES[header.service_class_code]
        bank, former = header.originating_dfi_identification, ""
        as_text = layout.ENTRY_DETAIL.write
        for detail, addenda in entries:
            text = as_text(detail)
            trace = detail.trace_number
            if (
                text is None
                or detail.transaction_code not in allowed
                or trace <= former
                or not trace.startswith(bank)
                or detail.addenda_record_indicator != bool(addenda)
            ):
                raise self._why_not(header, detail, former)
            former = trace
            sums.add_entry(
                detail.transaction_code, detail.receiving_dfi_identification, detail.amount
            )
            self._line += 1
            self._lines.append(text)
            if addenda:
                self._addenda(addenda, sums)
            if len(self._lines) >= _LINES_TOGETHER:
                self._flush()
        if not sums.count:
            raise self._problem("a batch without an entry")
        if type(sums.debit + sums.credit) is not int:
            raise self._problem("an amount is no whole number of cents")
        return sums

    def _addenda(self, addenda: Iterable[Addenda], sums: Sums) -> None:
        for record in addenda:
            self._append(_ADDENDA[type(record)], record)
            sums.count += 1

    def _check_header(self, header: BatchHeader) -> None:
        if header.standard_entry_class_code not in codes.READ_SECS:
            raise self._problem("no entry class that we write", ahead=1)
        if header.service_class_code not in _TRANSACTION_CODES:
            raise self._problem("no such service class", ahead=1)
        if header.batch_number <= self._batch_number:
            raise self._problem("the batch number is not above the one before", ahead=1)

    def _why_not(self, header: BatchHeader, detail: EntryDetail, former: str) -> DoesNotFit:
        if unwritable := layout.ENTRY_DETAIL.unwritable(detail):
            return self._problem(", ".join(unwritable), ahead=1)
        if detail.trace_number <= former:
            return self._problem("the trace number is not above the one before", ahead=1)
        if not detail.trace_number.startswith(header.originating_dfi_identification):
            return self._problem("the trace number of another bank", ahead=1)
        if detail.transaction_code not in _TRANSACTION_CODES[header.service_class_code]:
            return self._problem("the transaction code does not fit the service class", ahead=1)
        return self._problem("the addenda record indicator", ahead=1)

    def _append(self, form: Layout[R], record: R) -> None:
        text = form.write(record)
        if text is None:
            raise self._problem(", ".join(form.unwritable(record)), ahead=1)
        self._line += 1
        self._lines.append(text)

    def _flush(self) -> None:
        if self._lines:
            end = self._line_end
            self._sink.write((end.join(self._lines) + end).encode("ascii"))
            self._lines.clear()

    def _problem(self, problem: str, *, ahead: int = 0) -> DoesNotFit:
        return DoesNotFit(self._line + ahead, problem)
