"""How a bank's SFTP server is reached: the part of a rail's terms that we tell no bank."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from networks.ach import host_keys

HOST_KEYS_MAX = 2  # the one in use and the next one

_FOLDER = re.compile(r"/?[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
_FOLDERS_SAID = (
    "give the path as the bank's server shows it to our user, of letters, digits, . _ - and /,"
    " without .. and without a / at its end"
)
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|[0-9a-f:]{2,39}")
_USER = re.compile(r"[A-Za-z0-9._@-]{1,64}")


@dataclass(frozen=True, kw_only=True)
class Folders:
    outbound: str = "outbound"
    ack: str = "ack"
    inbound: str = "inbound"
    statements: str = "statements"


@dataclass(frozen=True, kw_only=True)
class Connection:
    """The server, its keys, and its folders. `archive` is the folder into which the bank moves our
    files that it took, if it does: they are looked for there after a lost answer."""

    host: str = ""
    port: int = 22
    user: str = ""
    host_keys: tuple[str, ...] = ()  # lines such as "ssh-ed25519 AAAA…"
    folders: Folders = field(default_factory=Folders)
    archive: str = ""
    connect_timeout: timedelta = timedelta(seconds=10)
    idle_timeout: timedelta = timedelta(seconds=60)

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Connection:
        """Raises TypeError or ValueError for what is no connection. What it then says may still be
        wrong: `problems`."""
        given = dict(stored)
        for name in ("connect_timeout", "idle_timeout"):
            if name in given:
                given[name] = timedelta(seconds=given[name])
        if "folders" in given:
            given["folders"] = Folders(**given["folders"])
        if "host_keys" in given:
            given["host_keys"] = tuple(given["host_keys"])
        return cls(**given)

    def problems(self) -> Iterator[str]:
        """A sentence for each thing that cannot be."""
        yield from _wrong_address(self)
        yield from _wrong_folders(self)
        for timeout in (self.connect_timeout, self.idle_timeout):
            if not timedelta(seconds=1) <= timeout <= timedelta(minutes=5):
                yield "time-outs are 1 second to 5 minutes"


def _wrong_address(line: Connection) -> Iterator[str]:
    if line.host and not _HOST.fullmatch(line.host):
        yield "the host is no name or address"
    if line.host and not _USER.fullmatch(line.user):
        yield "the user is missing, or has other characters"
    if type(line.port) is not int or not 0 < line.port < 65_536:
        yield "the port is a number from 1 to 65535"
    if len(line.host_keys) > HOST_KEYS_MAX or (line.host and not line.host_keys):
        yield f"needs the server's key, at most {HOST_KEYS_MAX}"
    yield from filter(None, map(host_keys.problem, line.host_keys))


def _wrong_folders(line: Connection) -> Iterator[str]:
    folders: Sequence[str] = list(asdict(line.folders).values())
    for each in filter(None, [*folders, line.archive]):
        if not isinstance(each, str) or not _FOLDER.fullmatch(each):
            yield f"the folder {each!r} is refused: {_FOLDERS_SAID}"
    if not all(folders):
        yield f"a folder is missing: {_FOLDERS_SAID}"
    if len(set(folders)) != len(folders):
        yield "each folder needs a name of its own"
