"""What every bank's acknowledgment comes to, and how one that cannot be used is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import NamedTuple, Protocol

REPEATED = "duplicate_file"  # a file's reason: the bank has one of its date, time and modifier


class Source(Protocol):
    """A file opened for reading bytes."""

    def read(self, size: int, /) -> bytes: ...


class Extent(NamedTuple):
    """How many batches and entries a file has at most."""

    batches: int
    entries: int


# What reads an acknowledgment. Given the digest of the file that it is about, the second argument
# says how much that file has, or None if we sent no such file: what names more is refused where it
# does so, and is never all in memory.
Read = Callable[[Source, Callable[[str], Extent | None]], "Acknowledgment"]


class Verdict(StrEnum):
    ACCEPTED = "accepted"
    PART_REJECTED = "part_rejected"
    REJECTED = "rejected"


class Reason(NamedTuple):
    """Why something was refused: at a line of the file that was sent, by the bank's code."""

    line: int
    code: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Acknowledgment:
    """What the bank says of one file. Amounts are cents, of what it accepted.

    `name` and `sha256` say which file. Batches are named by their numbers and entries by their
    traces. The entries of a rejected batch are not listed; of reasons and warnings the first are
    kept. `settles` has the day on which a batch settles, where the bank says one. `is_repeat`: the
    bank has a file with the same date, time and modifier already, so that its refusal says nothing
    of the entries.
    """

    name: str
    sha256: str
    verdict: Verdict
    reasons: tuple[Reason, ...] = ()
    rejected_batches: Mapping[int, tuple[Reason, ...]] = field(default_factory=dict)
    settles: Mapping[int, date] = field(default_factory=dict)
    rejected_entries: Mapping[str, str] = field(default_factory=dict)
    warnings: Mapping[str, str] = field(default_factory=dict)
    debit: int = 0
    credit: int = 0
    is_repeat: bool = False


class Unreadable(Exception):
    """An acknowledgment that cannot be used: nothing of it is applied. Its words repeat nothing of
    what it holds."""

    def __init__(self, line: int, code: str, detail: str) -> None:
        super().__init__(f"line {line}: {detail}")
        self.line = line
        self.code = code
        self.detail = detail
