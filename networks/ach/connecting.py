"""The connection to a rail's bank: the terms in force and our key, as the SFTP client takes them.

It loads asyncssh (30 MiB), so that workers import it where they connect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from common import crypto
from networks.ach import key_slots, rails
from networks.ach.models import AchKey
from networks.ach.sftp.bank import Bank, connected
from networks.ach.sftp.errors import KeyUnreadable, NotConnected
from networks.ach.sftp.settings import SftpSettings


def settings(rail: str, *, is_second: bool = False) -> SftpSettings:
    """How to reach the bank now; with the key in the second slot if `is_second`.

    Raises NotConnected, KeyUnreadable, rails.NoTerms, InvalidTerms, and of the client
    SettingsRefused and KeyRefused.
    """
    line = rails.current(rail).parsed.connection
    slots = key_slots.slots(rail)
    key = slots.second if is_second else slots.used
    if not line.host or key is None:
        raise NotConnected
    return SftpSettings(
        rail=rail,
        host=line.host,
        port=line.port,
        user=line.user,
        host_keys=line.host_keys,
        private_key=_opened(key),
        outbound=line.folders.outbound,
        ack=line.folders.ack,
        inbound=line.folders.inbound,
        statements=line.folders.statements,
        archive=line.archive,
        connect_seconds=line.connect_timeout.total_seconds(),
        operation_seconds=line.idle_timeout.total_seconds(),
    )


def open_bank(rail: str, watch: Callable[[], None]) -> AbstractContextManager[Bank]:
    """Sign in at the bank of a rail as it is to be reached now. Raises as `settings` does, and
    SftpError."""
    return connected(settings(rail), watch)


class AtBank:
    """Delivers the files of one rail, signing in for each."""

    def __init__(self, rail: str) -> None:
        self._rail = rail

    def deliver(
        self,
        folder: str,
        name: str,
        chunks: Iterable[bytes],
        *,
        size: int,
        sha256: str,
        before_rename: Callable[[str], None],
        vanished: Callable[[str], None],
        in_doubt: str,
        watch: Callable[[], None],
    ) -> bool:
        """As `networks.ach.sftp.bank.Bank.deliver`."""
        with open_bank(self._rail, watch) as bank:
            return bank.deliver(
                folder,
                name,
                chunks,
                size=size,
                sha256=sha256,
                before_rename=before_rename,
                vanished=vanished,
                in_doubt=in_doubt,
            )


def _opened(key: AchKey) -> bytes:
    try:
        return crypto.decrypt(key.private_key_token, context=key.encryption_context).encode()
    except crypto.Undecryptable as error:
        raise KeyUnreadable from error
