"""Reading a file in blocks, within a bound."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator

from asyncssh import SFTPClientFile

from networks.ach.sftp.errors import FileChanged, FileTooLarge, SftpError
from networks.ach.sftp.line import BLOCK_BYTES, READ_BYTES, Attributes, Line
from networks.ach.sftp.steps import Pace

READ_BYTES_MAX = 200 * 1024 * 1024


def read(line: Line, path: bytes, *, most: int) -> Iterator[bytes]:
    """The blocks of a file. Raises FileTooLarge, FileChanged."""
    pace = line.pace()
    file = line.open_to_read(path, pace)
    try:
        before = line.attributes(file, pace)
        if (before.size or 0) > most:
            raise FileTooLarge
        count = 0
        for block in _blocks(line, file, before.size, pace):
            count += len(block)
            if count > most:
                raise FileTooLarge
            yield block
        _require_unchanged(before, line.attributes(file, pace), count)
    finally:
        with contextlib.suppress(SftpError):
            line.close_file(file, line.pace())


def _blocks(line: Line, file: SFTPClientFile, size: int | None, pace: Pace) -> Iterator[bytes]:
    """The file up to its end, which the server shows, wherever it said that it would be."""
    offset = 0
    while True:
        length = _length(BLOCK_BYTES if size is None else size - offset)
        block = line.read_block(file, offset, length, pace)
        if block:
            yield block
        if len(block) < length:
            return
        offset += length


def _length(left: int) -> int:
    """How many bytes to ask for at once: whole pieces, at least one, no more than are left."""
    pieces = max(1, -(-left // READ_BYTES))
    return min(BLOCK_BYTES, pieces * READ_BYTES)


def holds(line: Line, path: bytes, *, size: int, sha256: str) -> bool:
    """Whether the file at a path has these bytes."""
    digest, count = hashlib.sha256(), 0
    try:
        for block in read(line, path, most=size):
            digest.update(block)
            count += len(block)
    except (FileTooLarge, FileChanged):
        return False
    return count == size and digest.hexdigest() == sha256


def _require_unchanged(before: Attributes, after: Attributes, count: int) -> None:
    if before != after or before.size not in (None, count):
        raise FileChanged
