"""Delivering a file once (decision 0131).

A file is written under a temporary name that no other attempt uses, read back, and renamed. Until
the rename is asked for, nothing was sent. From then on what lies at the bank decides: under the
final name, or in the archive, it is delivered; under the temporary name it is not; if it is in
neither place, only the bank knows.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from networks.ach.sftp import names, reading
from networks.ach.sftp.errors import (
    AnswerLost,
    BadAnswer,
    ConnectionLost,
    DeliveryUnknown,
    NameTaken,
    NoSuchFile,
    ReadBackDiffers,
    SftpError,
    SourceDiffers,
    TemporaryGone,
    TimedOut,
)
from networks.ach.sftp.line import BLOCK_BYTES, Line

_ANSWER_IS_LOST = (ConnectionLost, TimedOut, BadAnswer)


class Delivered(enum.Enum):
    """Where a file is that may have been delivered."""

    TAKEN = "taken"  # under its final name, or in the archive
    TEMPORARY = "temporary"  # still under the temporary name: not delivered
    NOTHING = "nothing"  # no attempt got as far as its final name: not delivered
    UNKNOWN = "unknown"  # one did, and nothing lies there: ask the bank


@dataclass(frozen=True, kw_only=True)
class Order:
    """A file that is to be delivered, and where."""

    folder: str
    name: str
    size: int
    sha256: str
    archive: str
    suffix: str

    @property
    def path(self) -> bytes:
        return self.path_of(self.name)

    def path_of(self, name: str) -> bytes:
        """Raises BadName."""
        return names.path(self.folder, name)

    def is_temporary(self, name: str) -> bool:
        return names.is_temporary_of(name, self.name, self.suffix)


def deliver(
    line: Line,
    order: Order,
    chunks: Iterable[bytes],
    before_rename: Callable[[str], None],
    vanished: Callable[[str], None],
    in_doubt: str,
) -> bool:
    """See Bank.deliver."""
    found = find(line, order, in_doubt)
    if found is Delivered.UNKNOWN:
        raise DeliveryUnknown
    _clean(line, order, keep=in_doubt if found is Delivered.TEMPORARY else "")
    if found is Delivered.TAKEN:
        return False
    if found is Delivered.TEMPORARY and _holds(line, order, order.path_of(in_doubt)):
        temporary = in_doubt
    else:
        temporary = _write(line, order, chunks, vanished)
    try:
        before_rename(temporary)
    except BaseException:
        if temporary != in_doubt:
            _try_remove(line, order.path_of(temporary))
        raise
    is_new = _rename(line, order, temporary)
    if found is Delivered.TEMPORARY and temporary != in_doubt:
        _try_remove(line, order.path_of(in_doubt))
    return is_new


def find(line: Line, order: Order, in_doubt: str) -> Delivered:
    """Where the file is. The temporary name is looked at first: while somebody looks, a file moves
    from there to its final name and on to the archive, never back."""
    lies_temporary = bool(in_doubt) and _lies(line, order.path_of(in_doubt))
    if _is_taken(line, order):
        return Delivered.TAKEN
    if lies_temporary:
        return Delivered.TEMPORARY
    return Delivered.UNKNOWN if in_doubt else Delivered.NOTHING


def _is_taken(line: Line, order: Order) -> bool:
    """Raises NameTaken if another file lies under the final name. One in the archive does no harm:
    some banks use names again."""
    if _lies(line, order.path):
        if not _holds(line, order, order.path):
            raise NameTaken
        return True
    if not order.archive:
        return False
    place = names.path(order.archive, order.name)
    return _lies(line, place) and _holds(line, order, place)


def _lies(line: Line, place: bytes) -> bool:
    return line.look(place, line.pace()) is not None


def _holds(line: Line, order: Order, place: bytes) -> bool:
    return reading.holds(line, place, size=order.size, sha256=order.sha256)


def _write(
    line: Line, order: Order, chunks: Iterable[bytes], vanished: Callable[[str], None]
) -> str:
    """Write the file under a new temporary name and read it back; gives the name. If it vanished
    meanwhile, the bank may have taken it: the attempt is in doubt, and none follows by itself."""
    temporary = names.temporary(order.name, order.suffix)
    path = order.path_of(temporary)
    try:
        _write_whole(line, path, _proven(chunks, order))
        if not _holds(line, order, path):
            raise ReadBackDiffers
    except NoSuchFile as error:
        vanished(temporary)
        raise TemporaryGone from error
    except SftpError:
        _try_remove(line, path)
        raise
    return temporary


def _write_whole(line: Line, path: bytes, blocks: Iterable[bytes]) -> None:
    pace = line.pace()
    file = line.open_to_write(path, pace)
    offset = 0
    for block in blocks:
        line.write_block(file, offset, block, pace)
        offset += len(block)
    line.close_file(file, pace)


def _proven(chunks: Iterable[bytes], order: Order) -> Iterator[bytes]:
    """The chunks in blocks; raises SourceDiffers at the end if they are not the file."""
    digest, count = hashlib.sha256(), 0
    for block in _blocks(chunks):
        digest.update(block)
        count += len(block)
        if count > order.size:
            break
        yield block
    if count != order.size or digest.hexdigest() != order.sha256:
        raise SourceDiffers


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    waiting = bytearray()
    for chunk in chunks:
        rest = memoryview(chunk)
        while rest:
            room = BLOCK_BYTES - len(waiting)
            waiting += rest[:room]
            rest = rest[room:]
            if len(waiting) == BLOCK_BYTES:
                yield bytes(waiting)
                waiting.clear()
    if waiting:
        yield bytes(waiting)


def _rename(line: Line, order: Order, temporary: str) -> bool:
    """Ask for the final name, once. Raises AnswerLost."""
    try:
        line.rename(order.path_of(temporary), order.path, line.pace())
    except _ANSWER_IS_LOST as error:
        raise AnswerLost from error
    except SftpError as error:
        # A no. It stands unless the file lies there all the same.
        if _is_taken(line, order):
            return False
        if isinstance(error, NoSuchFile):
            raise TemporaryGone from error
        raise
    return True


def _clean(line: Line, order: Order, *, keep: str) -> None:
    """Remove what earlier attempts left behind. Not every bank lets us; it does no harm there."""
    with contextlib.suppress(SftpError):
        for name, _attributes in line.names(order.folder.encode(), line.pace()):
            found = name.decode("ascii", errors="replace")
            if order.is_temporary(found) and found != keep:
                _try_remove(line, order.path_of(found))


def _try_remove(line: Line, path: bytes) -> None:
    with contextlib.suppress(SftpError):
        line.remove(path, line.pace())
