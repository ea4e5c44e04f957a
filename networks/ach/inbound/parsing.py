"""Turns a stored file into records, each kept as it came: all of the file, or nothing of it.

The whole file is read for faults first. Then its records are written, but for those of bad batches,
in order and in transactions of a thousand; whoever dies is followed by somebody who writes what is
missing. Nothing is applied before the file is `parsed`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any

import structlog
from django.db import transaction

from common import crypto
from common.engine.lookups import one_of
from networks.ach.accounts import fingerprints
from networks.ach.inbound import due, sorting, storing, surveying, unreadable
from networks.ach.inbound.deadlines import eastern_day
from networks.ach.inbound.sorting import Said
from networks.ach.inbound.surveying import Survey
from networks.ach.models import InFile, InRecord
from networks.ach.nacha.faults import Fault, Scope
from networks.ach.nacha.framing import Framing, Source
from networks.ach.nacha.items import Item
from networks.ach.nacha.reader import read
from networks.ach.nacha.records import BatchHeader, EntryDetail, FileHeader
from networks.ach.states import IN_FILE_STATES, InFileStatus, RecordStatus
from networks.bank_details import last4

log = structlog.get_logger(__name__)

RECORDS_TOGETHER = 1_000
_ENTRY, _ADDENDA = "6", "7"
_RAW_RECORDS_MAX = 12  # of an entry with its addenda; the classes that are read have two
_NOTE_LENGTH = 200
_INFORMATION_LENGTH = 80
REUSED_TRACE = "rdfi_trace_reused"
_AS_SAID = (
    *("kind", "rdfi_trace", "settlement_day", "original_trace", "code", "reason_code"),
    *("amount", "rdfi_routing"),
)


def parse(
    file: InFile,
    *,
    excused: Collection[str],
    is_over: Callable[[], bool] = lambda: False,
    now: datetime,
) -> bool:
    """Read a stored file of entries. `excused` are the faults that the rail lets pass.

    Afterwards it is `parsed`, or lies in `review` with its faults and without records; false if
    the time was over before. To do it again does no harm. Raises common.crypto.Undecryptable.
    """
    allowed = frozenset(excused) | surveying.excused_codes(file.faults)
    found = surveying.survey(read(storing.Reader(file)), excused=allowed)
    if found.set_aside:
        _end(file, InFileStatus.REVIEW, found, now)
        return True
    for fault in file.faults:
        if fault["code"] == REUSED_TRACE:
            found.add(fault)
    lines = _lines(file, found)
    while together := list(islice(lines, RECORDS_TOGETHER)):
        with transaction.atomic():
            is_new = _write(file, together, found)
        if is_new and is_over():
            return False
    _end(file, InFileStatus.PARSED, found, now)
    return True


def _end(file: InFile, status: InFileStatus, found: Survey, now: datetime) -> None:
    IN_FILE_STATES.advance(file, status, faults=found.faults, parsed_at=now)
    log.info("ach_file_read", file_id=file.pk, status=status, faults=found.count)


def _lines(file: InFile, found: Survey) -> Iterator[tuple[Said, str]]:
    """What each entry of a good batch says, and the records as they stand there."""
    reading = _Reading(file)
    for event in read(storing.Reader(file)):
        lines = reading.fault(event) if isinstance(event, Fault) else reading.item(event)
        if reading.batch not in found.bad_batches:
            yield from lines
        if isinstance(event, Item):
            reading.enter(event)
    if reading.batch not in found.bad_batches:
        yield from reading.unread()


class _Reading:
    """Where a reading stands: in which batch, under which header, and whether the last entry with a
    fault cannot be read. That is known when something else comes: the faults of an entry come
    before it."""

    def __init__(self, file: InFile) -> None:
        self.batch = 0
        self._raw = _Raw(storing.Reader(file))
        self._near = eastern_day(file.received_at)
        self._header: BatchHeader | None = None
        self._doubtful: tuple[Fault, str] | None = None

    def fault(self, fault: Fault) -> list[tuple[Said, str]]:
        """The entry before this one, if that cannot be read."""
        if fault.scope is not Scope.RECORD or self._is_doubtful(fault.line):
            return []
        text = self._raw.of(fault.line)
        if not text:
            return []  # it is about a record behind an entry
        former = self.unread()
        self._doubtful = fault, text
        return former

    def item(self, item: Item) -> list[tuple[Said, str]]:
        """The entry that an item is, behind one that cannot be read."""
        if self._is_doubtful(item.line):
            self._doubtful = None
        lines = self.unread()
        if isinstance(item.record, EntryDetail):
            said = sorting.sort(item, self._header, self._near)
            lines.append((said, self._raw.of(item.line)))
        return lines

    def enter(self, item: Item) -> None:
        """Go on behind an item."""
        self._doubtful = None
        if isinstance(item.record, FileHeader):
            self._near = item.record.file_creation_date
        elif isinstance(item.record, BatchHeader):
            self._header, self.batch = item.record, self.batch + 1

    def unread(self) -> list[tuple[Said, str]]:
        """The entry that cannot be read, once."""
        doubtful, self._doubtful = self._doubtful, None
        if doubtful is None:
            return []
        fault, text = doubtful
        return [(unreadable.said(fault, text, self._header, self._near), text)]

    def _is_doubtful(self, line: int) -> bool:
        return self._doubtful is not None and self._doubtful[0].line == line


class _Raw:
    """The entries of a file as they came, asked for in the order of their lines."""

    def __init__(self, source: Source) -> None:
        self._records = iter(Framing(source))
        self._next: tuple[int, str] | None = next(self._records, None)
        self._line = 0
        self._texts: list[str] = []

    def of(self, line: int) -> str:
        """The entry at a line and what follows it up to the next record of another type; empty
        where no entry stands."""
        while self._next and (self._next[0] <= line or self._next[1][0] == _ADDENDA):
            place, text = self._next
            if text[0] != _ADDENDA:
                self._line, self._texts = place, []
            if len(self._texts) < _RAW_RECORDS_MAX:
                self._texts.append(text)
            self._next = next(self._records, None)
        is_entry = self._line == line and self._texts[0][0] == _ENTRY
        return "\n".join(self._texts) if is_entry else ""


def _write(file: InFile, lines: Sequence[tuple[Said, str]], found: Survey) -> bool:
    """Write what is not written yet, because somebody may have begun before; whether anything was
    written now."""
    there = file.records.filter(one_of("line", [said.line for said, _ in lines]))
    written = set(there.values_list("line", flat=True))
    rows = [_row(file, said, raw) for said, raw in lines if said.line not in written]
    if not rows:
        return False
    InRecord.objects.bulk_create(rows, ignore_conflicts=True)
    for row in _others_of_their_traces(file, rows):
        detail = "another record came under this trace number and settlement day"
        fault = surveying.as_json(Fault(row.line, REUSED_TRACE, detail, Scope.BATCH))
        if fault not in found.faults and found.add(fault):
            InFile.objects.filter(pk=file.pk).update(faults=found.faults)
    return there.count() > len(written)


def _others_of_their_traces(file: InFile, rows: list[InRecord]) -> Iterator[InRecord]:
    """Those of `rows` whose place another record has that says something else. A record that came
    before, in this file or another one, says the same and is left out."""
    traced = [row for row in rows if row.rdfi_trace]
    same = InRecord.objects.filter(
        one_of("rdfi_trace", {row.rdfi_trace for row in traced}), rail_id=file.rail_id
    )
    # The index of traces says so, and PostgreSQL does not see it.
    first: dict[tuple[Any, ...], InRecord] = {_key(row): row for row in same.exclude(rdfi_trace="")}
    for row in traced:
        known = first[_key(row)]
        if (known.file_id, known.line) == (row.file_id, row.line):
            continue
        is_same_account = known.account_fingerprint in (row.account_fingerprints or ("",))
        if not is_same_account or any(
            getattr(known, name) != getattr(row, name) for name in _AS_SAID
        ):
            yield row


def _key(row: InRecord) -> tuple[str, date | None, str]:
    return row.rdfi_trace, row.settlement_day, row.kind


def _row(file: InFile, said: Said, raw: str) -> InRecord:
    """The unsaved row of a record. One that cannot be used goes to a person at once."""
    names = fingerprints(said.account) if said.account else ()
    row = InRecord(
        file=file,
        rail_id=file.rail_id,
        line=said.line,
        kind=said.kind,
        rdfi_trace=said.trace,
        rdfi_routing=said.rdfi,
        settlement_day=said.settled,
        original_trace=said.original_trace,
        code=said.code,
        reason_code=said.reason,
        amount=said.amount,
        company_id=said.company_id,
        account_fingerprint=names[0] if names else "",
        account_last4=last4(said.account),
        information=said.information[:_INFORMATION_LENGTH],
        received_at=file.received_at,
    )
    row.account_fingerprints = names
    row.raw_token = crypto.encrypt(raw, context=row.encryption_context)
    if said.faults:
        row.status = RecordStatus.REVIEW
        row.note = f"faults: {', '.join(said.faults)}"[:_NOTE_LENGTH]
        row.due_on = due.of_record(row, day=eastern_day(file.received_at))
    return row
