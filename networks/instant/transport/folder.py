"""Messages as files of two folders: `outbound`, from which somebody fetches, and `inbound`.

A file appears under its name only when it is whole and on disk. Whoever fills `inbound` does the
same: files whose names begin with a dot are not there yet.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path

from networks.instant.transport.base import (
    CONTENT_BYTES_MAX,
    WAIT_MAX,
    Delivery,
    Silent,
    Unavailable,
)

OUTBOUND, INBOUND = "outbound", "inbound"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,119}", re.ASCII)
_SUFFIX = ".xml"
_LOOK_SECONDS = 0.05


class FolderTransport:
    """A transport over two folders below `home`, which are made if they are missing."""

    def __init__(self, home: Path) -> None:
        self._outbound, self._inbound = home / OUTBOUND, home / INBOUND
        for folder in (self._outbound, self._inbound):
            folder.mkdir(parents=True, exist_ok=True)

    def send(self, content: bytes, *, name: str) -> None:
        """Put the message into `outbound`. One that still lies there under the same name stays.

        Raises Silent, and ValueError for a name that is none of a file or too much content.
        """
        if not _NAME.fullmatch(name) or len(content) > CONTENT_BYTES_MAX:
            raise ValueError("the message has no name that a file can have, or is too large")
        try:
            _put(self._outbound, f"{name}{_SUFFIX}", content)
        except OSError as error:
            raise Silent(_cause(error)) from error

    def receive(self, *, limit: int, wait: timedelta) -> Sequence[Delivery]:
        """The files of `inbound`, by age. A file of more than 1 MiB is cut behind that, so that it
        is seen to be too large. Raises Unavailable."""
        ends_at = time.monotonic() + min(wait, WAIT_MAX).total_seconds()
        try:
            while not (paths := _by_age(self._inbound)) and time.monotonic() < ends_at:
                time.sleep(_LOOK_SECONDS)
            return [Delivery(path.name, _start_of(path)) for path in paths[:limit]]
        except OSError as error:
            raise Unavailable(_cause(error)) from error

    def acknowledge(self, ids: Iterable[str]) -> None:
        """Remove the files. Raises Unavailable."""
        try:
            for each in ids:
                if _NAME.fullmatch(each):
                    (self._inbound / each).unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(_cause(error)) from error


def _put(folder: Path, name: str, content: bytes) -> None:
    """A whole file under its name, unless there is one. A link fails where a rename overwrites."""
    temporary = folder / f".{name}.{secrets.token_hex(6)}"
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, folder / name)
    except FileExistsError:
        return
    finally:
        temporary.unlink(missing_ok=True)
    _sync(folder)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _by_age(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        found = [
            (entry.stat().st_mtime_ns, entry.name)
            for entry in entries
            if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
        ]
    return [folder / name for _time, name in sorted(found)]


def _start_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(CONTENT_BYTES_MAX + 1)


def _cause(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower().replace(" ", "_")
