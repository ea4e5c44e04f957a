"""Bytes into records, as an operator takes them: 94 characters each, with line ends or without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

LENGTH = 94
_CHUNK = 1 << 16


class Source(Protocol):
    """A file opened for reading bytes."""

    def read(self, size: int, /) -> bytes: ...


class Lines:
    """Each record with its line, from 1. One of another length comes as it is, cut off at 94
    characters, and `length` has how many it had (at least; a line is not read to its end)."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._data = b""
        self._place = 0
        self._has_line_ends = False
        self.length = LENGTH

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        line = 0
        while self._fill():
            line += 1
            yield line, self._next()

    def _fill(self) -> bool:
        """Whether anything is left; then there is a whole record and its line end, if there is."""
        if len(self._data) - self._place <= LENGTH + 2:
            rest = self._data[self._place :]
            while len(rest) <= LENGTH + 2 and (chunk := self._source.read(_CHUNK)):
                rest += chunk
            self._data, self._place = rest, 0
        return self._place < len(self._data)

    def _next(self) -> bytes:
        start, end = self._place, self._place + LENGTH
        record = self._data[start:end]
        self.length = LENGTH
        if b"\n" in record:
            record = record[: record.index(b"\n")]
            self._place = start + len(record) + 1
            self._has_line_ends = True
            record = record.removesuffix(b"\r")
        else:
            self._place = start + len(record)
            self._end_of_line()
        if len(record) != LENGTH:
            self.length = len(record)
        return record

    def _end_of_line(self) -> None:
        ahead = self._data[self._place : self._place + 2]
        if ahead[:1] == b"\n" or ahead == b"\r\n":
            self._has_line_ends = True
            self._place += ahead.index(b"\n") + 1
        elif ahead and self._has_line_ends:
            self._skip_line()

    def _skip_line(self) -> None:
        """Drop the rest of a line that is too long."""
        while (end := self._data.find(b"\n", self._place)) < 0:
            self.length += len(self._data) - self._place
            self._data, self._place = self._source.read(_CHUNK), 0
            if not self._data:
                return
        self.length += end - self._place
        self._place = end + 1
