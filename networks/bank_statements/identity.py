"""Ids of lines: the digest of what a line says, and of how many said just the same before it.

Two equal lines of a day, say two fees of ten dollars, get two ids; in another file of the same day
they get the same two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from networks.bank_statements.items import Account, Detail, Line, LineKind, References

_FIELD_END, _LINE_END = "\x1f", "\x1e"  # which no field can hold


class Draft(NamedTuple):
    """A line before it has an id. See `items.Line`."""

    position: int
    amount: int
    booked_date: date
    value_date: date | None
    kind: LineKind
    type_code: str
    is_booked: bool
    is_reversal: bool
    references: References
    party: str
    text: str
    return_code: str
    details: tuple[Detail, ...]


class Identities:
    """Gives the lines of one file their ids. It remembers a digest for each different line."""

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def line(self, draft: Draft, account: Account, statement: int) -> tuple[Line, int]:
        """The line, and how many of the file said the same before it."""
        text = _FIELD_END.join((account.bank, account.number, *_words(draft)))
        digest = hashlib.sha256(text.encode())
        key = digest.digest()
        before = self._seen.get(key, 0)
        self._seen[key] = before + 1
        digest.update(f"{_LINE_END}{before}".encode())
        return Line(id=digest.hexdigest(), statement=statement, **draft._asdict()), before


def _words(draft: Draft) -> Iterator[str]:
    """What the line says: neither where it stands nor how we sort it."""
    yield str(draft.amount)
    yield draft.booked_date.isoformat()
    yield draft.value_date.isoformat() if draft.value_date else ""
    yield draft.type_code
    yield "booked" if draft.is_booked else "pending"
    yield from _of_references(draft.references)
    yield draft.party
    yield draft.text
    yield draft.return_code
    for detail in draft.details:
        yield "" if detail.amount is None else str(detail.amount)
        yield from _of_references(detail.references)
        yield detail.party
        yield detail.text
        yield detail.return_code


def _of_references(references: References) -> tuple[str, ...]:
    return (
        references.bank,
        references.customer,
        references.file,
        references.batch,
        references.instruction,
        references.end_to_end,
        references.transaction,
        references.trace,
    )
