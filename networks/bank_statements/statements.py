"""A statement while it is read: its lines get their ids, its faults their number, its sums a judge.

Both readers open one for each statement of a file, whether its heading can be used or not: the
lines of one that cannot be used are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator

from networks.bank_statements import judging
from networks.bank_statements.faults import Fault, Scope, fault
from networks.bank_statements.identity import Draft, Identities
from networks.bank_statements.items import Event, Heading
from networks.bank_statements.judging import Stated, Tally


class Statements:
    """What the statements of one file have in common: their numbers, ids of lines, repetitions."""

    def __init__(self) -> None:
        self.count = 0
        self.identities = Identities()
        self._known: set[tuple[str, ...]] = set()

    def next_number(self) -> int:
        self.count += 1
        return self.count

    def is_repeated(self, heading: Heading) -> bool:
        account = heading.account
        day = heading.to_date.isoformat()
        key = (account.bank, account.number, heading.purpose, heading.id, day)
        if key in self._known:
            return True
        self._known.add(key)
        return False


class OpenStatement:
    """One statement. `number` counts from 1. Once it is `doubtful`, something of it could not be
    read, and its sums say nothing."""

    def __init__(self, file: Statements) -> None:
        self.number = file.next_number()
        self.doubtful = False
        self.heading: Heading | None = None
        self._file = file
        self._tally = Tally()

    def fault(self, code: str, *, position: int, detail: str = "") -> Fault:
        """A fault of this statement."""
        found = fault(code, position=position, statement=self.number, detail=detail)
        self.doubtful |= found.scope is not Scope.NOTE
        return found

    def begin(self, heading: Heading) -> Iterator[Event]:
        """The heading, behind what is wrong with it."""
        self.heading = heading
        yield from judging.of_heading(heading)
        if self._file.is_repeated(heading):
            yield fault("statement_repeated", position=heading.position, statement=self.number)
        yield heading

    def line(self, draft: Draft) -> Iterator[Event]:
        """The line with its id; nothing where the heading could not be used."""
        if self.heading is None:
            return
        self._tally.add(draft.amount, is_booked=draft.is_booked)
        line, before = self._file.identities.line(draft, self.heading.account, self.number)
        if before:
            yield fault("line_repeated", position=draft.position, statement=self.number)
        yield line

    def end(self, stated: Stated, *, position: int) -> Iterator[Fault]:
        """What does not add up, once all lines are here."""
        if self.heading and not self.doubtful:
            yield from judging.of_totals(self.heading, stated, self._tally, position=position)
