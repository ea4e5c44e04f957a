"""Whether a rail's bank answers: signs in and looks into each folder. It changes nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from importlib import import_module

from networks.ach import key_slots, rails
from networks.ach.sftp.errors import SftpError
from networks.ach.terms import InvalidTerms

SECONDS_MAX = 10  # a person waits


@dataclass(frozen=True)
class Finding:
    """One step, and what came of it; `code` is empty if it went well."""

    step: str
    words: str
    code: str = ""


def probe(rail: str) -> list[Finding]:
    """What a connection finds now, and whether the bank takes our second key, if there is one.
    Raises NoTerms. Takes a minute at most."""
    found = list(_probed(rail, is_second=False))
    if key_slots.slots(rail).second is not None:
        found += _probed(rail, is_second=True)
    return found


def _probed(rail: str, *, is_second: bool) -> Iterator[Finding]:
    # These load asyncssh (30 MiB), which a web process should not have before somebody asks.
    connecting = import_module("networks.ach.connecting")
    bank = import_module("networks.ach.sftp.bank")
    step = "Sign in with the second key" if is_second else "Sign in"
    try:
        settings = connecting.settings(rail, is_second=is_second)
    except InvalidTerms as error:
        yield Finding("Settings", "They cannot be read.", type(error).__name__.lower())
        return
    except SftpError as error:
        said = " ".join(filter(None, (error.detail, error.advice)))
        yield Finding("Settings", said, error.code)
        return
    quick = replace(
        settings,
        connect_seconds=min(settings.connect_seconds, SECONDS_MAX),
        operation_seconds=min(settings.operation_seconds, SECONDS_MAX),
    )
    try:
        with bank.connected(quick) as line:
            yield Finding(step, "The bank has its key and took ours.")
            step = "Connection"
            if not is_second:
                yield from _folders(rail, line)
    except SftpError as error:
        yield Finding(step, error.advice, error.code)


def _folders(rail: str, line: object) -> Iterator[Finding]:
    folders = asdict(rails.current(rail).parsed.connection.folders)
    for folder in folders.values():
        try:
            listing = line.list(folder)  # type: ignore[attr-defined]  # imported where it is used
        except SftpError as error:
            yield Finding(f"Folder {folder}", error.advice, error.code)
            if error.is_passing:
                return
        else:
            count = len(listing.files)
            odd = f", {listing.odd_count} that we do not touch" if listing.odd_count else ""
            yield Finding(f"Folder {folder}", f"{count} files{odd}")
