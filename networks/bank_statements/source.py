"""Bytes as they come in: looked at without being taken, and counted."""

from __future__ import annotations

from typing import Protocol

CHUNK_BYTES = 1 << 16
FILE_BYTES_MAX = 200 << 20
LINES_MAX = 1_000_000


class TooLarge(Exception):
    """The file has more bytes than any statement."""


class Source(Protocol):
    """A file opened for reading bytes."""

    def read(self, size: int, /) -> bytes: ...


class Chunks:
    """The bytes of a source. `start` is its first chunk, which `read` gives once more: it is a full
    one, or all that there is, in whatever pieces the source gives its bytes."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._size = 0
        self.start = self._next()
        while 0 < len(self.start) < CHUNK_BYTES and (more := self._next()):
            self.start += more
        self._is_new = True

    def read(self) -> bytes:
        """The next chunk, empty at the end. Raises TooLarge."""
        if self._is_new:
            self._is_new = False
            return self.start
        return self._next()

    def skip(self, prefix: bytes) -> bool:
        """Whether the source began with `prefix`, which is then left out."""
        if not self.start.startswith(prefix):
            return False
        self.start = self.start.removeprefix(prefix)
        return True

    def _next(self) -> bytes:
        chunk = self._source.read(CHUNK_BYTES)
        self._size += len(chunk)
        if self._size > FILE_BYTES_MAX:
            raise TooLarge
        return chunk
