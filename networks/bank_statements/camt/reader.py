"""Reads a message of camt.052, camt.053 or camt.054: its statements, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from networks.bank_statements.camt.document import Broken, Document, Moment, Step
from networks.bank_statements.camt.entries import Entry
from networks.bank_statements.camt.headings import READ, Parts
from networks.bank_statements.faults import SENTENCES, fault
from networks.bank_statements.items import Event, Purpose
from networks.bank_statements.source import LINES_MAX, Chunks
from networks.bank_statements.statements import OpenStatement, Statements


def read(chunks: Chunks) -> Iterator[Event]:
    """The statements and the faults. Raises source.TooLarge, and OSError when the file cannot be
    read."""
    document = Document(chunks)
    message = _Message(document)
    try:
        for step in document.steps():
            yield from message.take(step)
    except Broken as broken:
        detail = f"{SENTENCES[broken.code]} ({broken.where})" if broken.where else ""
        yield fault(broken.code, position=message.entries, detail=detail)
        return
    if not message.statements.count:
        yield fault("message_empty")


class _Message:
    """Where the reading stands. `entries` counts those of the file."""

    def __init__(self, document: Document) -> None:
        self.entries = 0
        self.statements = Statements()
        self._document = document
        self._file_id = ""
        self._statement: _Statement | None = None

    def take(self, step: Step) -> Iterator[Event]:
        if step.moment is Moment.BEGIN:
            self._statement = _Statement(self, self._document, self._file_id)
        elif self._statement:
            yield from self._statement.take(step)
            if step.moment is Moment.END:
                self._statement = None
        elif step.name == "GrpHdr":
            self._file_id = step.facts.text("MsgId")


class _Statement:
    """A statement, report or notification while it is read."""

    def __init__(self, message: _Message, document: Document, file_id: str) -> None:
        self._message = message
        self._form = document.format
        self._file_id = file_id
        self._parts = Parts(document.message)
        self._open = OpenStatement(message.statements)
        self._position = message.entries  # of the last entry before it
        self._has_begun = False
        self._entry: Entry | None = None

    def take(self, step: Step) -> Iterator[Event]:
        match step.moment:
            case Moment.ENTRY:
                yield from self._begin()
                self._message.entries += 1
                if self._message.entries > LINES_MAX:
                    raise Broken("too_many_lines")
                self._entry = Entry(
                    step.facts,
                    position=self._message.entries,
                    currency=self._parts.currency,
                )
            case Moment.DETAIL if self._entry:
                self._entry.add_detail(step.facts)
            case Moment.DETAILS if self._entry:
                self._entry.end_details(step.facts)
            case Moment.PART:
                yield from self._part(step)
            case Moment.END:
                yield from self._begin()
                yield from self._open.end(self._parts.stated(), position=self._message.entries)

    def _part(self, step: Step) -> Iterator[Event]:
        """A whole entry, or a part of the heading, which has to stand before every entry."""
        if self._entry:
            yield from self._line(self._entry)
            self._entry = None
        elif self._has_begun and step.name in READ:
            yield self._open.fault("part_misplaced", position=self._message.entries)
        else:
            self._parts.take(step.name, step.facts)

    def _begin(self) -> Iterator[Event]:
        """The heading, once: before the first entry, or at the end of a statement without any."""
        if self._has_begun:
            return
        self._has_begun = True
        heading = self._parts.heading(
            number=self._open.number,
            position=self._position,
            form=self._form,
            file_id=self._file_id,
        )
        for code in self._parts.codes:
            yield self._open.fault(code, position=self._position)
        if heading and not self._open.doubtful:
            yield from self._open.begin(heading)

    def _line(self, entry: Entry) -> Iterator[Event]:
        """The line that an entry is, behind what is wrong with it."""
        heading = self._open.heading
        if heading is None:
            return
        draft = entry.draft(heading.to_date)
        if draft and not draft.is_booked and heading.purpose is Purpose.STATEMENT:
            entry.codes.append("entry_not_booked")
        for code in entry.codes:
            yield self._open.fault(code, position=entry.position)
        if draft:
            yield from self._open.line(draft)
