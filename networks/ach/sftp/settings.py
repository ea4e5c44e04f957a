"""Where a bank's server is, what it is known by, and who we are there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from networks.ach.sftp import keys, names
from networks.ach.sftp.errors import SettingsRefused

HOST_KEYS_MAX = 2  # the present one and the next one
SECONDS_MAX = 600

_HOST = re.compile(r"[A-Za-z0-9:][A-Za-z0-9.:\-]{0,252}")
_USER = re.compile(r"[!-~]{1,64}")


@dataclass(frozen=True, kw_only=True)
class SftpSettings:
    """One connection to one bank. Raises SettingsRefused and KeyRefused when it is made.

    Folders are paths as the server shows them to our user. `archive` is where the bank puts files
    that it took, if it tells us; `temporary_suffix` ends names that the bank must not take yet.
    """

    rail: str  # what the log calls it
    host: str
    port: int = 22
    user: str
    host_keys: tuple[str, ...]  # OpenSSH lines: the present one, and the next one
    private_key: bytes = field(repr=False)
    outbound: str = "outbound"
    ack: str = "ack"
    inbound: str = "inbound"
    statements: str = "statements"
    archive: str = ""
    temporary_suffix: str = ".tmp"
    connect_seconds: float = 10
    operation_seconds: float = 60

    def __post_init__(self) -> None:
        _require(_HOST.fullmatch(self.host), "host", "This is no name or address of a host.")
        _require(0 < self.port < 65536, "port", "A port is a number from 1 to 65535.")
        _require(_USER.fullmatch(self.user), "user", "A user name has no blanks.")
        self._require_folders()
        for name in ("connect_seconds", "operation_seconds"):
            in_range = 0 < getattr(self, name) <= SECONDS_MAX
            _require(in_range, name, f"A time-out is at most {SECONDS_MAX} seconds.")
        self._require_keys()

    def _require_folders(self) -> None:
        for name in ("outbound", "ack", "inbound", "statements"):
            _require(names.is_folder(getattr(self, name)), name, "This is no path of a folder.")
        archive = not self.archive or names.is_folder(self.archive)
        _require(archive, "archive", "This is no path of a folder.")
        suffix = names.is_suffix(self.temporary_suffix)
        _require(suffix, "temporary_suffix", "A suffix is a dot and letters or digits.")

    def _require_keys(self) -> None:
        count = len(self.host_keys)
        _require(0 < count <= HOST_KEYS_MAX, "host_keys", "One or two host keys are needed.")
        found = {keys.read_host_key(text).text for text in self.host_keys}
        _require(len(found) == count, "host_keys", "Both slots hold the same host key.")
        keys.read_client_key(self.private_key)


def _require(is_true: object, field: str, detail: str) -> None:
    if not is_true:
        raise SettingsRefused(field, detail)
