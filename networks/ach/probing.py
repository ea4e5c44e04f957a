"""Whether a rail's bank answers: signs in and looks into each folder. It changes nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from importlib import import_module

from common import crypto
from networks.ach import rails
from networks.ach.sftp.errors import SftpError
from networks.ach.terms import InvalidTerms

SECONDS_MAX = 10  # a person waits
NOT_CONNECTED = "The terms name no host, or we have no key to sign in with."


@dataclass(frozen=True)
class Finding:
    """One step, and what came of it; `code` is empty if it went well."""

    step: str
    words: str
    code: str = ""


def probe(rail: str) -> list[Finding]:
    """What a connection finds now. Raises NoTerms. Takes a minute at most."""
    # These load asyncssh (30 MiB), which a web process should not have before somebody asks.
    connecting = import_module("networks.ach.connecting")
    bank = import_module("networks.ach.sftp.bank")
    try:
        settings = connecting.settings(rail)
    except connecting.NotConnected:
        return [Finding("Settings", NOT_CONNECTED, "not_connected")]
    except (InvalidTerms, crypto.Undecryptable) as error:
        return [Finding("Settings", "They cannot be read.", type(error).__name__.lower())]
    except SftpError as error:
        return [Finding("Settings", f"{error.detail} {error.advice}", error.code)]
    quick = replace(
        settings,
        connect_seconds=min(settings.connect_seconds, SECONDS_MAX),
        operation_seconds=min(settings.operation_seconds, SECONDS_MAX),
    )
    found = []
    try:
        with bank.connected(quick) as line:
            found.append(Finding("Sign in", "The bank has its key and took ours."))
            found += _folders(rail, line)
    except SftpError as error:
        found.append(Finding("Connection" if found else "Sign in", error.advice, error.code))
    return found


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
