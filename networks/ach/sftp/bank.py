"""A bank's folders, as the workers use them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

import structlog

from networks.ach.sftp import delivery, names, reading
from networks.ach.sftp.delivery import Delivered
from networks.ach.sftp.errors import NoSuchFile, SftpError
from networks.ach.sftp.line import Attributes, Line
from networks.ach.sftp.reading import READ_BYTES_MAX
from networks.ach.sftp.settings import SftpSettings

ODD_SHOWN_MAX = 20

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A file as the server tells of it: size in bytes and time may be missing, or untrue."""

    name: str
    size: int | None
    modified: datetime | None


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The plain files of a folder by name. Hidden names and folders are left out; `odd` shows the
    first names that we do not touch, for a person, and `odd_count` counts them."""

    files: tuple[RemoteFile, ...]
    odd: tuple[str, ...]
    odd_count: int


class Bank:
    """An open connection. Belongs to one thread; every method raises SftpError, and logs it with
    the rail, the file's name and the code alone."""

    def __init__(self, settings: SftpSettings, line: Line) -> None:
        self._settings = settings
        self._line = line

    def list(self, folder: str) -> Listing:
        """Raises NoSuchFolder, FolderTooFull."""
        with _logged(self._settings.rail):
            found = self._line.names(folder.encode(), self._line.pace())
        return _listing(found)

    def read(self, folder: str, name: str, *, most: int = READ_BYTES_MAX) -> Iterator[bytes]:
        """The bytes of a file, at most `most` of them. What was given is of use only if nothing is
        raised until the end: FileTooLarge, or FileChanged if the file is not as long as the server
        says, or changes meanwhile."""
        with _logged(self._settings.rail, name):
            yield from reading.read(self._line, names.path(folder, name), most=most)

    def remove(self, folder: str, name: str) -> None:
        """Delete a file. One that is gone already is no failure: the answer to an earlier attempt
        may have been lost."""
        with _logged(self._settings.rail, name), contextlib.suppress(NoSuchFile):
            self._line.remove(names.path(folder, name), self._line.pace())

    def deliver(
        self,
        folder: str,
        name: str,
        chunks: Iterable[bytes],
        *,
        size: int,
        sha256: str,
        before_rename: Callable[[str], None],
        vanished: Callable[[str], None] | None = None,
        in_doubt: str = "",
    ) -> bool:
        """Put a file there under its name, once: True if this call did, False if it lies there.

        Write it under a temporary name, read back size and sha256, call `before_rename` with that
        temporary name, rename. `before_rename` must commit the name before it returns, and may
        raise: then nothing is sent. A later attempt passes the committed name as `in_doubt`, also
        after AnswerLost or a kill. Nobody else may deliver the file meanwhile. `vanished` (the same
        function, unless it is given) is called if the temporary file is gone (TemporaryGone): the
        bank may have taken that, so it must commit the name and not refuse.

        Raises DeliveryUnknown if the attempt in doubt left no trace, NameTaken, SourceDiffers,
        ReadBackDiffers, AnswerLost.
        """
        order = self._order(folder, name, size, sha256)
        with _logged(self._settings.rail, name):
            is_new = delivery.deliver(
                self._line, order, chunks, before_rename, vanished or before_rename, in_doubt
            )
        log.info("sftp_delivered", rail=self._settings.rail, file=name, is_new=is_new)
        return is_new

    def find_delivered(
        self, folder: str, name: str, *, size: int, sha256: str, in_doubt: str = ""
    ) -> Delivered:
        """Where a file is that an earlier attempt may have delivered. Raises NameTaken if another
        one has its name."""
        order = self._order(folder, name, size, sha256)
        with _logged(self._settings.rail, name):
            return delivery.find(self._line, order, in_doubt)

    def _order(self, folder: str, name: str, size: int, sha256: str) -> delivery.Order:
        return delivery.Order(
            folder=folder,
            name=name,
            size=size,
            sha256=sha256,
            archive=self._settings.archive,
            suffix=self._settings.temporary_suffix,
        )


@contextlib.contextmanager
def connected(settings: SftpSettings, watch: Callable[[], None] = lambda: None) -> Iterator[Bank]:
    """Sign in at a bank, and leave at the end. Make no call inside a database transaction.

    `watch` is called before each step, a step takes as long as the settings allow at most. What it
    raises ends the work: nothing has its final name then unless it had before.
    """
    with _logged(settings.rail):
        line = Line(settings, watch)
    try:
        yield Bank(settings, line)
    finally:
        line.close()


@contextlib.contextmanager
def _logged(rail: str, name: str = "") -> Iterator[None]:
    try:
        yield
    except SftpError as error:
        shown = names.shown(name.encode(errors="replace"))
        log.warning("sftp_failed", rail=rail, file=shown, code=error.code)
        raise


def _listing(found: list[tuple[bytes, Attributes]]) -> Listing:
    files: dict[str, RemoteFile] = {}
    odd: list[bytes] = []
    for raw, attributes in found:
        name = raw.decode("ascii", errors="replace")
        if raw.startswith(b".") or not attributes.is_file:
            continue
        if names.is_usable(name):
            file = RemoteFile(name=name, size=attributes.size, modified=attributes.modified)
            files.setdefault(name, file)
        else:
            odd.append(raw)
    return Listing(
        files=tuple(files[name] for name in sorted(files)),
        odd=tuple(names.shown(raw) for raw in odd[:ODD_SHOWN_MAX]),
        odd_count=len(odd),
    )
