"""Reads a whole file of statements for its faults and sums, before a line of it is used."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from networks.bank_statements.faults import Fault, Scope
from networks.bank_statements.items import Event, Heading, Line

FAULTS_KEPT = 200


@dataclass
class Tally:
    """What the lines of one statement come to so far, in cents; both sums are positive."""

    heading: Heading
    count: int = 0
    credits: int = 0
    debits: int = 0
    _digest: Any = field(default_factory=hashlib.sha256)

    def add(self, line: Line) -> None:
        self.count += 1
        self.credits += max(line.amount, 0)
        self.debits += max(-line.amount, 0)
        self._digest.update(bytes.fromhex(line.id))

    @property
    def lines_digest(self) -> str:
        """SHA-256 over the ids of the lines in their order."""
        return str(self._digest.hexdigest())


@dataclass
class Survey:
    """The statements of a file by their numbers, and what is wrong: the first faults and the first
    one of each code, as `InFile.faults` keeps them. A file that is `set_aside` is not used at
    all."""

    statements: dict[int, Tally] = field(default_factory=dict)
    faults: list[dict[str, Any]] = field(default_factory=list)
    set_aside: bool = False
    _codes: set[str] = field(default_factory=set)

    def add(self, fault: Fault) -> None:
        """Keep a fault. The first one of a code is always kept: by it others find the file."""
        if len(self.faults) < FAULTS_KEPT or fault.code not in self._codes:
            self.faults.append(as_json(fault))
        self._codes.add(fault.code)
        self.set_aside |= fault.scope is not Scope.NOTE


def survey(events: Iterable[Event]) -> Survey:
    """Read all of it."""
    found = Survey()
    for event in events:
        if isinstance(event, Heading):
            found.statements[event.number] = Tally(event)
        elif isinstance(event, Line):
            found.statements[event.statement].add(event)
        else:
            found.add(event)
    return found


def as_json(fault: Fault) -> dict[str, Any]:
    """How a file's row keeps a fault."""
    return {
        "line": fault.position,
        "code": fault.code,
        "detail": fault.detail,
        "scope": fault.scope.value,
    }
