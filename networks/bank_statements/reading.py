"""Reads a bank statement of any format as a stream, and puts small ones together.

Nothing of a file may be used before the last event has come: sums are judged at the end. A file of
which everything has to be known first is read twice, once for its faults and once for its lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from networks.bank_statements.bai2 import reader as bai2
from networks.bank_statements.camt import reader as camt
from networks.bank_statements.faults import FAULTS_MAX, Fault, Scope, fault
from networks.bank_statements.items import BankStatement, Event, Heading, Line
from networks.bank_statements.source import LINES_MAX, Chunks, Source, TooLarge

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANKS = b" \t\r\n"


def read(source: Source) -> Iterator[Event]:
    """The statements of `source`: each heading, its lines, and the faults wherever they are found.

    It raises nothing for what a file holds; OSError when `source` cannot be read.
    """
    faults = lines = 0
    try:
        for event in _events(source):
            lines += isinstance(event, Line)
            if lines > LINES_MAX:
                yield fault("too_many_lines", position=event.position)
                return
            yield event
            faults += isinstance(event, Fault) and event.scope is not Scope.NOTE
            if faults == FAULTS_MAX:
                yield fault("too_many_faults", position=event.position)
                return
    except TooLarge:
        yield fault("file_too_large")


def _events(source: Source) -> Iterator[Event]:
    chunks = Chunks(source)
    if not chunks.start:
        yield fault("file_empty")
        return
    if chunks.skip(_BYTE_ORDER_MARK):
        yield fault("byte_order_mark")
    beginning = chunks.start.lstrip(_BLANKS)
    if beginning.startswith(b"<"):
        yield from camt.read(chunks)
    elif beginning[:1].isdigit():
        yield from bai2.read(chunks)
    elif b"\0" in beginning[:4] or beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield fault("encoding_unsupported")
    else:
        yield fault("format_unknown" if beginning else "file_empty")


class StatementFile(NamedTuple):
    """A file with all its statements in memory. `faults` are those of no single statement."""

    statements: tuple[BankStatement, ...]
    faults: tuple[Fault, ...]

    @property
    def is_usable(self) -> bool:
        """Whether no fault sets the whole file aside."""
        return all(fault.scope is not Scope.FILE for fault in self.faults)


def collect(events: Iterable[Event]) -> StatementFile:
    """Everything that reading yields, by statement. A statement without a heading has faults only,
    which are the file's then."""
    headings: dict[int, Heading] = {}
    lines: dict[int, list[Line]] = {}
    faults: list[Fault] = []
    for event in events:
        if isinstance(event, Heading):
            headings[event.number] = event
            lines[event.number] = []
        elif isinstance(event, Line):
            lines[event.statement].append(event)
        else:
            faults.append(event)
    statements = tuple(
        BankStatement(
            heading=heading,
            lines=tuple(lines[number]),
            faults=tuple(each for each in faults if each.statement == number),
        )
        for number, heading in headings.items()
    )
    return StatementFile(
        statements, tuple(each for each in faults if each.statement not in headings)
    )
