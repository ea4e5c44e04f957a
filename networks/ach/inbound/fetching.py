"""Takes what a bank has put there for us: each file is stored, and only then removed there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

import structlog

from networks.ach.inbound import storing
from networks.ach.inbound.storing import NotStorable
from networks.ach.models.inbound import InFolder
from networks.ach.terms import Folders

log = structlog.get_logger(__name__)

Failures = tuple[type[Exception], ...]

_FOLDERS: Mapping[InFolder, Callable[[Folders], str]] = MappingProxyType(
    {
        InFolder.ACK: lambda folders: folders.ack,
        InFolder.INBOUND: lambda folders: folders.inbound,
        InFolder.STATEMENTS: lambda folders: folders.statements,
    }
)


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
    failures: Failures,
) -> int:
    """Store all files that are there; returns how many were new.

    A file that cannot be had, because the transport raises one of `failures`, or that is not taken,
    holds up no other one; it stays where it is.
    """
    new = 0
    for folder, where in _FOLDERS.items():
        remote = where(folders)
        for name in _names(bank, remote, failures):
            try:
                new += _take(bank, remote, name, rail_id=rail_id, folder=folder, now=now)
            except failures as error:
                code = getattr(error, "code", type(error).__name__)
                log.warning("ach_file_not_fetched", rail=rail_id, folder=folder, code=code)
    return new


def _names(bank: Transport, remote: str, failures: Failures) -> Iterator[str]:
    try:
        listing = bank.list(remote)
    except failures as error:
        code = getattr(error, "code", type(error).__name__)
        log.warning("ach_folder_not_listed", folder=remote, code=code)
        return
    if listing.odd_count:
        log.warning("ach_files_with_odd_names", folder=remote, count=listing.odd_count)
    yield from (file.name for file in listing.files)


def _take(
    bank: Transport, remote: str, name: str, *, rail_id: str, folder: InFolder, now: datetime
) -> bool:
    """Whether the file was new."""
    try:
        storing.check_name(name)
        content = bank.read(remote, name, most=storing.SIZE_MAX)
        stored = storing.store(rail_id=rail_id, folder=folder, name=name, content=content, now=now)
    except NotStorable as refusal:
        log.error("ach_file_not_taken", rail=rail_id, folder=folder, code=refusal.code)
        return False
    bank.remove(remote, name)
    return stored.is_new
