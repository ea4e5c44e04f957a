"""What is done in a bank's folders, one plain step at a time, each of them bounded.

asyncssh's own loop fills what is missing in the middle of a file with zeros, and believes any
length; so pieces are put together here.
"""

from __future__ import annotations

import asyncio
import contextlib
import stat
from collections.abc import AsyncGenerator, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar, cast

import asyncssh
from asyncssh import FXF_CREAT, FXF_READ, FXF_TRUNC, FXF_WRITE, SFTPAttrs, SFTPClientFile

from networks.ach.sftp import failures
from networks.ach.sftp.errors import BadAnswer, FolderTooFull
from networks.ach.sftp.settings import SftpSettings
from networks.ach.sftp.steps import Pace, Steps

WRITE_BYTES = 32 * 1024  # what every server takes in one packet
READ_BYTES = 64 * 1024
AT_ONCE = 16  # requests under way
BLOCK_BYTES = READ_BYTES * AT_ONCE  # what one step reads or writes
FOLDER_NAMES_MAX = 10_000
FOLDER_BYTES_MAX = 4 * 1024 * 1024
ENTRY_BYTES = 100  # what a name in a listing costs beside itself
SIZE_MAX = 2**63 - 1

T = TypeVar("T")


class Attributes(NamedTuple):
    """What a server says of a file. All of it may be untrue."""

    size: int | None
    modified: datetime | None
    is_file: bool


class Line:
    """Belongs to one thread. Raises SftpError where it is opened and by every step; `watch` is
    called before each, and may raise."""

    def __init__(self, settings: SftpSettings, watch: Callable[[], None]) -> None:
        self._settings = settings
        self._watch = watch
        pace = Pace(settings.connect_seconds)
        self._steps = Steps(settings, pace)
        try:
            self._client = self._steps.do(
                _start(self._steps.connection), pace, failures.OF_STARTING
            )
        except BaseException:
            self._steps.close()
            raise

    def pace(self) -> Pace:
        """The time that one piece of work has."""
        return Pace(self._settings.operation_seconds)

    def close(self) -> None:
        self._steps.close()

    def names(self, folder: bytes, pace: Pace) -> list[tuple[bytes, Attributes]]:
        """What a folder lists. Raises FolderTooFull."""
        found, truncated = self._do(self._names(folder), pace, failures.OF_A_FOLDER)
        pace.earn(sum(len(name) + ENTRY_BYTES for name, _attributes in found))
        if truncated:
            raise FolderTooFull
        return found

    def look(self, path: bytes, pace: Pace) -> Attributes | None:
        """What lies at a path itself; None if nothing does."""
        return self._do(self._look(path), pace, failures.OF_A_FILE)

    def open_to_read(self, path: bytes, pace: Pace) -> SFTPClientFile:
        return self._do(self._open_file(path, FXF_READ, READ_BYTES), pace, failures.OF_A_FILE)

    def open_to_write(self, path: bytes, pace: Pace) -> SFTPClientFile:
        flags = FXF_WRITE | FXF_CREAT | FXF_TRUNC
        return self._do(self._open_file(path, flags, WRITE_BYTES), pace, failures.OF_WRITING)

    def attributes(self, file: SFTPClientFile, pace: Pace) -> Attributes:
        return self._do(_attributes(file), pace, failures.OF_A_FILE)

    def read_block(self, file: SFTPClientFile, offset: int, length: int, pace: Pace) -> bytes:
        """`length` bytes, in whole pieces of READ_BYTES; fewer only at the end of the file."""
        block = self._do(_read_block(file, offset, length), pace, failures.OF_A_FILE)
        pace.earn(len(block))
        return block

    def write_block(self, file: SFTPClientFile, offset: int, block: bytes, pace: Pace) -> None:
        self._do(_write_block(file, offset, block), pace, failures.OF_WRITING)
        pace.earn(len(block))

    def close_file(self, file: SFTPClientFile, pace: Pace) -> None:
        self._do(file.close(), pace, failures.OF_WRITING)

    def rename(self, old: bytes, new: bytes, pace: Pace) -> None:
        """Give a file another name. SFTP's own rename, which by its definition replaces nothing."""
        self._do(self._client.rename(old, new), pace, failures.OF_A_FILE)

    def remove(self, path: bytes, pace: Pace) -> None:
        self._do(self._client.remove(path), pace, failures.OF_A_FILE)

    def _do(self, work: Coroutine[Any, Any, T], pace: Pace, meanings: failures.Meanings) -> T:
        try:
            self._watch()
        except BaseException:
            work.close()
            raise
        return self._steps.do(work, pace, meanings)

    async def _names(self, folder: bytes) -> tuple[list[tuple[bytes, Attributes]], bool]:
        """The names of a folder, and whether there are more of them than are read."""
        found: list[tuple[bytes, Attributes]] = []
        room = FOLDER_BYTES_MAX
        async with contextlib.aclosing(self._entries(folder)) as entries:
            async for entry in entries:
                name = cast("bytes", entry.filename)
                room -= len(name)
                if len(found) == FOLDER_NAMES_MAX or room < 0:
                    return found, True
                found.append((name, _told(entry.attrs)))
        return found, False

    def _entries(self, folder: bytes) -> AsyncGenerator[asyncssh.SFTPName, None]:
        return cast("AsyncGenerator[asyncssh.SFTPName, None]", self._client.scandir(folder))

    async def _look(self, path: bytes) -> Attributes | None:
        try:
            return _told(await self._client.lstat(path))
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
            return None

    async def _open_file(self, path: bytes, flags: int, block: int) -> SFTPClientFile:
        return await self._client.open(
            path, flags, encoding=None, block_size=block, max_requests=AT_ONCE
        )


async def _start(connection: asyncssh.SSHClientConnection) -> asyncssh.SFTPClient:
    return await connection.start_sftp_client(sftp_version=3)


def _told(attributes: SFTPAttrs) -> Attributes:
    size, modified = attributes.size, attributes.mtime
    return Attributes(
        size=None if size is None else min(int(size), SIZE_MAX),
        modified=None if modified is None else datetime.fromtimestamp(int(modified), UTC),
        is_file=attributes.permissions is None or _is_file(attributes.permissions),
    )


def _is_file(permissions: int) -> bool:
    """Whether this is a plain file; servers that tell no kind of it are believed."""
    return stat.S_IFMT(permissions) in (0, stat.S_IFREG)


async def _attributes(file: SFTPClientFile) -> Attributes:
    return _told(await file.stat())


async def _read_block(file: SFTPClientFile, offset: int, length: int) -> bytes:
    """Read pieces at once, and put them together. Raises BadAnswer if a piece is longer than asked
    for, or one follows after the end."""
    starts = range(offset, offset + length, READ_BYTES)
    pieces = await asyncio.gather(*(_read_piece(file, start) for start in starts))
    has_ended = False
    for piece in pieces:
        if len(piece) > READ_BYTES or (has_ended and piece):
            raise BadAnswer
        has_ended = len(piece) < READ_BYTES
    return b"".join(pieces)


async def _read_piece(file: SFTPClientFile, offset: int) -> bytes:
    return cast("bytes", await file.read(READ_BYTES, offset))


async def _write_block(file: SFTPClientFile, offset: int, block: bytes) -> None:
    await file.write(block, offset)
