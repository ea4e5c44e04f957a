"""What a browser was sent to a provider with: kept in its session, taken once, within ten minutes.

A callback in another browser, or the same one again, finds nothing.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field

from django.contrib.sessions.backends.base import SessionBase
from django.utils.crypto import get_random_string

from tenants.sso.connections import Connection

SECONDS = 10 * 60
_AT_ONCE = 5  # tabs of a browser that wait for a provider
_KEY = "sso_exchanges"
_LENGTH = 43  # of letters and digits: 256 bits


def _secret() -> str:
    return get_random_string(_LENGTH)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """`next` is the path to go on to. `is_proof`: somebody who is signed in proves who they are."""

    next: str = ""
    is_proof: bool = False
    nonce: str = field(default_factory=_secret)


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """`began_at` is in seconds since 1970."""

    asked: Asked
    verifier: str
    began_at: float


def begin(session: SessionBase, connection: Connection, *, asked: Asked, verifier: str) -> str:
    """Remember it; returns the `state` to send along."""
    state, now = _secret(), time.time()
    waiting = {
        name: one for name, one in session.get(_KEY, {}).items() if now - one["at"] < SECONDS
    }
    newest = dict(sorted(waiting.items(), key=lambda each: float(each[1]["at"]))[1 - _AT_ONCE :])
    session[_KEY] = newest | {
        state: {
            "connection": connection.id,
            "asked": asdict(asked),
            "verifier": verifier,
            "at": now,
        }
    }
    return state


def take(session: SessionBase, connection: Connection, *, state: str) -> Exchange | None:
    """What this `state` was sent with, for the last time; None if it is unknown, of another
    connection, or too old."""
    waiting = dict(session.get(_KEY, {}))
    found = waiting.pop(state, None)
    if found is None:
        return None
    session[_KEY] = waiting
    if found["connection"] != connection.id or time.time() - found["at"] > SECONDS:
        return None
    return Exchange(asked=Asked(**found["asked"]), verifier=found["verifier"], began_at=found["at"])
