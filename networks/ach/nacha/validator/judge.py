"""Goes through an outbound file once and names every fault. See the package for what it is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from networks.ach.nacha.faults import MEANINGS, SCOPES, Fault, Scope
from networks.ach.nacha.validator import dates, tables
from networks.ach.nacha.validator.batch import Batch
from networks.ach.nacha.validator.lines import LENGTH, Lines, Source
from networks.ach.nacha.validator.tables import DIGITS
from networks.ach.nacha.validator.terms import Terms
from networks.ach.nacha.validator.totals import Totals
from networks.ach.nacha.validator.traces import Traces

FAULTS_MAX = 1_000  # then nothing more is judged
_NINES = "9" * LENGTH
_MODIFIERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_BLOCK = 10
Found = Iterator[tuple[int, str, str]]  # a line, a code of a fault, and a sentence or nothing


class Validator:
    """Iterating gives the faults; then the counts are there: entry detail records, what they are,
    and their sums in cents."""

    def __init__(self, source: Source, terms: Terms | None = None) -> None:
        self.secs: set[str] = set()
        self.entries = self.returns = self.nocs = self.debit = self.credit = 0
        self._lines = Lines(source)
        self._terms = terms or Terms()
        self._traces = Traces()
        self._totals = Totals()
        self._tests = Totals()
        self._test_line = 0
        self._batch: Batch | None = None
        self._batches = 0
        self._batch_number = -1
        self._has_foreign = False
        self._created: date | None = None
        self._at = ""
        self._line = 0
        self._control = ""
        self._control_line = 0

    def __iter__(self) -> Iterator[Fault]:
        """Raises OSError when the source cannot be read."""
        for count, (line, code, detail) in enumerate(self._found(), start=1):
            yield _fault(line, code, detail)
            if count == FAULTS_MAX:
                yield _fault(line, "too_many_faults", "")
                return

    def _found(self) -> Found:
        for line, record in self._lines:
            self._line = line
            yield from self._record(line, record)
        yield from self._end()

    def _record(self, line: int, record: bytes) -> Found:
        if self._lines.length != LENGTH:
            code = "record_short" if self._lines.length < LENGTH else "record_long"
            yield line, code, f"the record has {self._lines.length} characters"
            return
        text = record.decode("latin-1")
        if not tables.CLEAN(record):
            yield line, "lower_case" if tables.PRINTABLE(record) else "characters", ""
        if line == 1 and text[0] != "1":
            yield line, "file_header_missing", ""
        if not self._control:
            yield from self._of_type(line, text)
        elif text != _NINES:
            yield line, "record_after_file_control", ""

    def _of_type(self, line: int, text: str) -> Found:
        if text[0] in "5678":
            yield from self._in_batches(line, text)
        elif text[0] == "9":
            yield from self._file_control(line, text)
        elif text[0] == "1":
            yield from self._file_header(line, text)
        else:
            yield line, "record_type_unknown", ""

    def _in_batches(self, line: int, text: str) -> Found:
        kind, batch = text[0], self._batch
        if kind == "5":
            yield from self._batch_header(line, text)
        elif batch is None:
            yield line, "record_order", f"a record of type {kind} outside a batch"
        elif kind == "6":
            yield from batch.judge_entry(line, text)
        elif kind == "7":
            self._count_addendum(text)
            yield from batch.judge_addendum(line, text)
        else:
            yield from batch.judge_control(line, text)
            self._close(batch)

    def _file_header(self, line: int, text: str) -> Found:
        if line > 1:
            yield line, "file_header_repeated", ""
            return
        self._created, self._at = dates.a_date(text[23:29]), text[29:33]
        for name, is_right in (
            ("priority_code", text[1:3] == "01"),
            ("immediate_destination", _is_party(text[3:13])),
            ("immediate_origin", _is_party(text[13:23])),
            ("file_creation_date", self._created is not None),
            ("file_creation_time", not self._at.strip() or dates.is_time(self._at)),
            ("file_id_modifier", text[33] in _MODIFIERS),
            ("record_size", text[34:37] == "094"),
            ("blocking_factor", text[37:39] == "10"),
            ("format_code", text[39] == "1"),
        ):
            if not is_right:
                yield 1, f"{name}_invalid", ""

    def _batch_header(self, line: int, text: str) -> Found:
        if self._batch:
            yield line, "batch_control_missing", ""
            self._close(self._batch)
        self._batches += 1
        self._batch = Batch(
            text,
            line=line,
            created=self._created,
            at=self._at,
            terms=self._terms,
            traces=self._traces,
        )
        self.secs.add(self._batch.sec)
        yield from self._batch.judge_header(self._batch_number)
        if DIGITS(text[87:94]):
            self._batch_number = int(text[87:94])

    def _count_addendum(self, text: str) -> None:
        self.returns += text[1:3] == "99"
        self.nocs += text[1:3] == "98"

    def _close(self, batch: Batch) -> None:
        self._totals.include(batch.totals)
        self.entries += batch.entries
        self.debit, self.credit = self._totals.debit, self._totals.credit
        if batch.is_test:
            self._tests.include(batch.totals)
            self._test_line = self._line
        self._has_foreign |= batch.is_foreign
        self._batch = None

    def _file_control(self, line: int, text: str) -> Found:
        if text == _NINES:
            yield line, "record_order", "fill before the file control"
            return
        if self._batch:
            yield line, "batch_control_missing", ""
            self._close(self._batch)
        self._control, self._control_line = text, line
        if not self._batches:
            yield line, "record_order", "a file without a batch"
        if not self._has_foreign:
            yield from self._against(line, text)

    def _against(self, line: int, text: str) -> Found:
        if not DIGITS(text[1:7]) or int(text[1:7]) != self._batches:
            yield line, "batch_count_wrong", f"there are {self._batches} batches"
        for name, detail in self._totals.against(text, start=13, count=8):
            yield line, f"file_{name}_wrong", detail
        if text[55:].strip():
            yield line, "reserved_invalid", ""
        if max(self._totals.debit, self._totals.credit) > self._terms.file_max:
            yield line, "file_above_limit", ""

    def _end(self) -> Found:
        if not self._line:
            yield 1, "file_empty", ""
            return
        if self._batch:
            yield self._line, "batch_control_missing", ""
            self._close(self._batch)
        if not self._control:
            yield self._line, "file_control_missing", ""
            return
        blocks = -(-self._line // _BLOCK)
        if self._line % _BLOCK:
            yield self._line, "block_unfilled", ""
        if not DIGITS(self._control[7:13]) or int(self._control[7:13]) != blocks:
            yield self._control_line, "block_count_wrong", f"there are {blocks} blocks"
        if self._tests.debit > self._tests.credit + self._terms.tests_given:
            yield self._test_line, "acctverify_not_covered", ""


def _is_party(ten: str) -> bool:
    """A blank and a routing number, or ten characters that the bank gave out."""
    if ten[0] != " ":
        return " " not in ten
    return DIGITS(ten[1:]) is not None and tables.has_check_digit(ten[1:])


def _fault(line: int, code: str, detail: str) -> Fault:
    if code in MEANINGS:
        return Fault(line, code, detail or MEANINGS[code], SCOPES[code])
    return Fault(line, code, detail or "what stands in this field is not allowed", Scope.FILE)
