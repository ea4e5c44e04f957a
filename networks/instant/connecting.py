"""The way to a rail's operator: the terms in force and our key, as the transports take them."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from common import crypto
from networks.instant import key_slots
from networks.instant.models import InstantKey
from networks.instant.rails import RailInForce
from networks.instant.terms import TransportKind
from networks.instant.transport.base import Transport, Unavailable
from networks.instant.transport.folder import FolderTransport
from networks.instant.transport.https import HttpsSettings, HttpsTransport
from networks.instant.transport.identity import Identity

_open: dict[str, tuple[tuple[str, str], Transport]] = {}
_opening = Lock()


def transport(rail: RailInForce) -> Transport:
    """How messages of a rail go and come now. One for a process, until the terms or the key change.

    Raises Unavailable where there is no key, crypto.Undecryptable, and the settings' refusals.
    """
    key = key_slots.slots(rail.name).used
    version = (rail.version.pk, key.pk if key else "")
    with _opening:
        known = _open.get(rail.name)
        if known is None or known[0] != version:
            _close(rail.name)
            known = _open[rail.name] = (version, _opened(rail, key))
        return known[1]


def close() -> None:
    """Close every connection that is idle; the next use opens another one."""
    with _opening:
        for name in list(_open):
            _close(name)


def _close(rail: str) -> None:
    _, former = _open.pop(rail, (None, None))
    if isinstance(former, HttpsTransport):
        former.close()


def _opened(rail: RailInForce, key: InstantKey | None) -> Transport:
    line = rail.terms.connection
    if line.kind == TransportKind.FOLDER:
        return FolderTransport(Path(line.folder))
    if key is None:
        raise Unavailable("no_key")
    private = crypto.decrypt(key.private_key_token, context=key.encryption_context)
    identity = Identity(
        certificate=key.certificate.encode(), private_key=private.encode(), pins=line.pins
    )
    seconds = line.timeout.total_seconds()
    return HttpsTransport(HttpsSettings(base_url=line.base_url, identity=identity, seconds=seconds))
