"""The connection to a rail's bank: the terms in force and our key, as the SFTP client takes them.

It loads asyncssh (30 MiB), so that workers import it where they connect.
"""

from __future__ import annotations

from common import crypto
from networks.ach import rails
from networks.ach.models import AchKey
from networks.ach.sftp.settings import SftpSettings


class NotConnected(LookupError):
    """The terms name no host, or there is no key to sign in with."""


def settings(rail: str) -> SftpSettings:
    """How to reach the bank now.

    Raises NotConnected, rails.NoTerms, InvalidTerms, common.crypto.Undecryptable, and of the client
    SettingsRefused and KeyRefused.
    """
    line = rails.current(rail).parsed.connection
    key = AchKey.objects.filter(rail_id=rail, retired_at=None).first()
    if not line.host or key is None:
        raise NotConnected(rail)
    private = crypto.decrypt(key.private_key_token, context=key.encryption_context)
    return SftpSettings(
        rail=rail,
        host=line.host,
        port=line.port,
        user=line.user,
        host_keys=line.host_keys,
        private_key=private.encode(),
        outbound=line.folders.outbound,
        ack=line.folders.ack,
        inbound=line.folders.inbound,
        statements=line.folders.statements,
        archive=line.archive,
        connect_seconds=line.connect_timeout.total_seconds(),
        operation_seconds=line.idle_timeout.total_seconds(),
    )
