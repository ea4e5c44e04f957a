"""Bytes into records: with line ends or without, with blanks cut off or added.

What banks do: lines that end with LF or CRLF, one string without line ends, trailing blanks
trimmed, trailing blanks added. At most two chunks are in memory, whatever the file holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from networks.ach.nacha.layout import RECORD_LENGTH

CHUNK_BYTES = 1 << 16
# A line that does not end before that is a string of records without line ends.
_UNBROKEN = 2 * RECORD_LENGTH


class Source(Protocol):
    """A file opened for reading bytes."""

    def read(self, size: int, /) -> bytes: ...


class Framing:
    """The records of `source`, one by one, each with its line. A byte is a character (Latin-1).

    A record comes as it stands there without its line end: of 94 characters, fewer where
    trailing blanks were cut off, or more where it is too long.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._line = 0
        self.unbroken = False  # while a record comes out of a string without line ends

    def __iter__(self) -> Iterator[tuple[int, str]]:
        rest = ""
        while chunk := self._source.read(CHUNK_BYTES):
            data = rest + chunk.decode("latin-1")
            if "\r" in data:
                data = data.replace("\r\n", "\n")
            if not data.strip("\n"):  # a flood of empty lines
                self._line += len(data) - self.unbroken  # the first one may end a line
                rest, self.unbroken = "", False
                continue
            *lines, rest = data.split("\n")
            for line in lines:
                if len(line) == RECORD_LENGTH and not self.unbroken:
                    self._line += 1
                    yield self._line, line
                else:
                    yield from self._of(line)
                    self.unbroken = False
            if len(rest) >= _UNBROKEN:
                whole = len(rest) - len(rest) % RECORD_LENGTH
                yield from self._split(rest[:whole])
                rest = rest[whole:]
        if rest := rest.removesuffix("\r"):
            yield from self._of(rest)

    def _of(self, line: str) -> Iterator[tuple[int, str]]:
        """The records of a line that has not just 94 characters."""
        record = line.rstrip(" ")
        if self.unbroken or len(record) >= _UNBROKEN:
            yield from self._split(record)
            return
        self._line += 1
        if record:
            yield self._line, record

    def _split(self, records: str) -> Iterator[tuple[int, str]]:
        self.unbroken = True
        for start in range(0, len(records), RECORD_LENGTH):
            record = records[start : start + RECORD_LENGTH]
            self._line += 1
            if record.strip(" "):
                yield self._line, record
