"""Takes the bank statements that the operator of an instant network puts into a folder.

A file is removed once it is stored: whoever dies in between finds it there again, and the same
bytes are stored once. One that changed meanwhile stays, and is taken again as another file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

import structlog

from common import sweeps
from common.database.job_doors import by
from common.database.jobs import WORKER
from networks.ach.inbound import storing
from networks.ach.inbound.storing import NotStorable
from networks.ach.models.inbound import InFolder
from networks.instant import rails
from networks.instant.terms import InvalidTerms
from reconciliation import accounts

log = structlog.get_logger(__name__)

FILES_AT_ONCE = 100
_CHUNK_BYTES = 1 << 16


@by(WORKER)
def fetch_due(*, now: datetime) -> int:
    """Store what lies in the folders of rails that have an account; returns how many files came. A
    rail that fails holds up no other one."""
    return sweeps.each(rails.names(), lambda rail: _fetch(rail, now), failure="statements_not_kept")


def _fetch(rail: str, now: datetime) -> int:
    files = _files(rail)
    if not files or not accounts.has_any(rail):
        return 0
    found = sorted(Path(files).parent.glob(Path(files).name))
    return sum(_keep(rail, path, now) for path in islice(found, FILES_AT_ONCE))


def _files(rail: str) -> str:
    try:
        return rails.current(rail).terms.statements
    except (rails.NoTerms, InvalidTerms):
        return ""  # which the sweeps of the network itself tell


def _keep(rail: str, path: Path, now: datetime) -> bool:
    found = path.stat()
    try:
        stored = storing.store(
            rail_id=rail,
            folder=InFolder.STATEMENTS,
            name=path.name,
            content=_pieces(path),
            now=now,
        )
    except NotStorable as refusal:
        log.error("statement_not_kept", rail=rail, name=path.name, code=refusal.code)
        return False
    remove(path, found)
    return stored.is_new


def remove(path: Path, read: os.stat_result) -> None:
    """Remove a file that was read. One that the operator has written on since stays: its rest would
    be lost."""
    is_here = path.stat() if path.exists() else None
    if is_here and (is_here.st_size, is_here.st_mtime_ns) == (read.st_size, read.st_mtime_ns):
        path.unlink(missing_ok=True)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        while piece := source.read(_CHUNK_BYTES):
            yield piece
