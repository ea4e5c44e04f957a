"""Takes what a bank has put there for us: each file is stored, and only then removed there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple, Protocol

import structlog

from networks.ach import long_work
from networks.ach.connection_terms import Folders
from networks.ach.inbound import storing
from networks.ach.inbound.storing import NotStorable
from networks.ach.models.inbound import InFolder
from networks.ach.sftp.errors import SftpError

log = structlog.get_logger(__name__)

Failure = SftpError | NotStorable

_FOLDERS: Mapping[InFolder, Callable[[Folders], str]] = MappingProxyType(
    {
        InFolder.ACK: lambda folders: folders.ack,
        InFolder.INBOUND: lambda folders: folders.inbound,
        InFolder.STATEMENTS: lambda folders: folders.statements,
    }
)


class Fetched(NamedTuple):
    """How many files were new, and what was raised for files and folders that were not read."""

    new: int
    failed: list[Failure]


class RemoteFile(Protocol):
    @property
    def name(self) -> str: ...


class Listing(Protocol):
    """The files of a folder, and how many names there are that we do not touch."""

    @property
    def files(self) -> Sequence[RemoteFile]: ...

    @property
    def odd_count(self) -> int: ...


class Transport(Protocol):
    """What reads a bank's folders. `networks.ach.sftp.bank.Bank` says what it does and raises."""

    def list(self, folder: str) -> Listing: ...

    def read(self, folder: str, name: str, *, most: int) -> Iterable[bytes]: ...

    def remove(self, folder: str, name: str) -> None: ...


def fetch(
    bank: Transport,
    *,
    rail_id: str,
    folders: Folders,
    now: datetime,
) -> Fetched:
    """Store all files that are there.

    A file that cannot be had (the transport raises an SftpError), or that is not taken, holds up no
    other one; it stays where it is.
    """
    new, failed, clock = 0, list[Failure](), long_work.clock_from(now)
    for folder, where in _FOLDERS.items():
        remote = where(folders)
        for name in _names(bank, remote, failed):
            try:
                new += _take(bank, remote, name, rail_id=rail_id, folder=folder, now=clock())
            except NotStorable as refusal:
                log.error("ach_file_not_taken", rail=rail_id, folder=folder, code=refusal.code)
                failed.append(refusal)
            except SftpError as error:
                log.warning("ach_file_not_fetched", rail=rail_id, folder=folder, code=error.code)
                failed.append(error)
    return Fetched(new, failed)


def _names(bank: Transport, remote: str, failed: list[Failure]) -> Iterator[str]:
    try:
        listing = bank.list(remote)
    except SftpError as error:
        log.warning("ach_folder_not_listed", folder=remote, code=error.code)
        failed.append(error)
        return
    if listing.odd_count:
        log.warning("ach_files_with_odd_names", folder=remote, count=listing.odd_count)
    yield from (file.name for file in listing.files)


def _take(
    bank: Transport, remote: str, name: str, *, rail_id: str, folder: InFolder, now: datetime
) -> bool:
    """Whether the file was new. Raises NotStorable, and what the transport does."""
    storing.check_name(name)
    content = bank.read(remote, name, most=storing.SIZE_MAX)
    stored = storing.store(rail_id=rail_id, folder=folder, name=name, content=content, now=now)
    bank.remove(remote, name)
    return stored.is_new
