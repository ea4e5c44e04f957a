"""The exact bytes of our files, encrypted in pieces: written once, read back as a stream."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from common import crypto
from common.engine import sql
from networks.ach.models import OutFileChunk

CHUNK_BYTES = 1 << 18
_PIECE = (
    "SELECT content_token FROM ach_outfilechunk WHERE file_id = %(file)s AND number = %(number)s"
)


class Sealing:
    """A sink for the bytes of a file, which are ASCII. `close` when all are written."""

    def __init__(self, file_id: str) -> None:
        self.size = 0
        self.chunks = 0
        self._file_id = file_id
        self._digest = hashlib.sha256()
        self._pieces: list[bytes] = []
        self._kept = 0

    @property
    def sha256(self) -> str:
        """Of what was written so far."""
        return self._digest.hexdigest()

    def write(self, data: bytes, /) -> None:
        self._digest.update(data)
        self.size += len(data)
        self._pieces.append(data)
        self._kept += len(data)
        if self._kept >= CHUNK_BYTES:
            self._store()

    def close(self) -> None:
        if self._kept:
            self._store()

    def _store(self) -> None:
        self.chunks += 1
        context = OutFileChunk.context_of(self._file_id, self.chunks)
        text = b"".join(self._pieces).decode("ascii")
        OutFileChunk.objects.create(
            file_id=self._file_id,
            number=self.chunks,
            content_token=crypto.encrypt(text, context=context),
        )
        self._pieces, self._kept = [], 0


def opened(file_id: str) -> Iterator[bytes]:
    """The bytes of a file, a piece at a time. Raises common.crypto.Undecryptable."""
    number = 1
    while found := sql.first(_PIECE, {"file": file_id, "number": number}):
        context = OutFileChunk.context_of(file_id, number)
        yield crypto.decrypt(found[0], context=context).encode("ascii")
        number += 1


class Reading:
    """Pieces as a file that is open for reading. `sha256` and `size` are of what was read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.size = 0
        self._pieces = iter(pieces)
        self._rest = b""
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def read(self, size: int, /) -> bytes:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._digest.update(piece)
            self.size += len(piece)
            self._rest = piece
        data, self._rest = self._rest[:size], self._rest[size:]
        return data
