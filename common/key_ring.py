"""The keys that encrypt what is stored: one for each purpose, derived from the entries of
`ENCRYPTION_KEYS`.

An entry is `id:hkdf:base64`. HKDF (RFC 5869) makes a key of it for each purpose, so that a key that
leaks from one place opens nothing else. `id:wrapped:base64` is such a key, wrapped by a key service
outside (`KEY_SERVICE`): it is unwrapped when it is needed, and forgotten after a while. An entry
without a word, `id:base64`, is of earlier releases: the one key of all purposes.
"""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.module_loading import import_string

KEY_BYTES = 32
WRAPPED_BYTES_MAX = 8_192
OPEN_MAX = 16
NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
PLAIN, DERIVED, WRAPPED = "", "hkdf", "wrapped"


class KeyServiceAway(Exception):
    """The key service did not answer: what needs its key has to wait."""


class KeyRefused(Exception):
    """The key service will not unwrap this key: it was altered, or is another service's."""


class KeyService(Protocol):
    """Wraps keys under one that it never shows: a KMS or an HSM.

    Each call answers within seconds, or raises KeyServiceAway. `name` is the id of the key, which
    the service may bind to what it wraps.
    """

    def wrap(self, key: bytes, *, name: str) -> bytes: ...

    def unwrap(self, wrapped: bytes, *, name: str) -> bytes:
        """Raises KeyRefused as well."""
        ...


class Local:
    """The default: no service outside. The keys stand in the settings as they are."""

    def wrap(self, key: bytes, *, name: str) -> bytes:  # of the Protocol
        return key

    def unwrap(self, wrapped: bytes, *, name: str) -> bytes:
        return wrapped


@dataclass(frozen=True)
class Entry:
    """One key of the ring. `body` is the key, or what the service made of it."""

    name: str
    kind: str
    body: bytes = field(repr=False)


@dataclass
class _Open:
    """A key that is at hand until `until` (`time.monotonic`), and what was derived from it."""

    key: bytes
    until: float
    derived: dict[str, bytes] = field(default_factory=dict)


class Ring:
    """The entries of `ENCRYPTION_KEYS`, in order, and the keys that are open.

    At most OPEN_MAX keys are open, wrapped ones for KEY_CACHE_SECONDS. Purposes are words of our
    code, so there are few.
    """

    def __init__(self) -> None:
        self._open: dict[Entry, _Open] = {}
        self._lock = threading.Lock()

    def entries(self) -> dict[str, Entry]:
        return _parse(tuple(settings.ENCRYPTION_KEYS))

    def key(self, name: str, *, purpose: str) -> bytes:
        """The 32 bytes for a purpose. Raises KeyError for a name that is not there,
        KeyServiceAway, KeyRefused."""
        entry = self.entries()[name]
        if entry.kind == PLAIN:
            return entry.body
        opened = self._opened(entry)
        if purpose not in opened.derived:
            opened.derived[purpose] = derive(opened.key, purpose=purpose)
        return opened.derived[purpose]

    def _opened(self, entry: Entry) -> _Open:
        found = self._open.get(entry)
        if found is None or found.until < time.monotonic():
            with self._lock:
                found = self._open.get(entry)
                if found is None or found.until < time.monotonic():
                    found = self._unwrap(entry)
        return found

    def _unwrap(self, entry: Entry) -> _Open:
        self._open.pop(entry, None)
        key, until = entry.body, float("inf")
        if entry.kind == WRAPPED:
            key = service().unwrap(entry.body, name=entry.name)
            until = time.monotonic() + settings.KEY_CACHE_SECONDS
        if len(key) != KEY_BYTES:
            raise KeyRefused(f"key {entry.name} has not {KEY_BYTES} bytes")
        while len(self._open) >= OPEN_MAX:
            self._open.pop(next(iter(self._open)))
        self._open[entry] = opened = _Open(key, until)
        return opened


RING = Ring()


def derive(key: bytes, *, purpose: str) -> bytes:
    """The key for a purpose: HKDF with SHA-256."""
    info = f"ballast encryption of {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(key)


def service() -> KeyService:
    """The key service that `KEY_SERVICE` names."""
    made: KeyService = _service(settings.KEY_SERVICE)
    return made


def text_of(entry: Entry) -> str:
    """The entry as `ENCRYPTION_KEYS` has it."""
    parts = [entry.name, entry.kind, base64.b64encode(entry.body).decode()]
    return ":".join(filter(None, parts))


def parse(entries: Iterable[str]) -> dict[str, Entry]:
    """The entries, in order. Raises ValueError, which does not show a key."""
    keys: dict[str, Entry] = {}
    for text in entries:
        name, _, rest = text.partition(":")
        if not NAME.fullmatch(name) or name in keys:
            raise ValueError("each key needs an id of its own: letters, digits, - and _")
        kind, _, body = rest.rpartition(":")
        if kind not in {PLAIN, DERIVED, WRAPPED}:
            raise ValueError(f"key {name} is neither {DERIVED} nor {WRAPPED}")
        keys[name] = Entry(name, kind, _body(name, kind, body))
    if not keys:
        raise ValueError("at least one key is needed")
    return keys


def _body(name: str, kind: str, text: str) -> bytes:
    try:
        body = base64.b64decode(text, validate=True)
    except ValueError:
        body = b""
    if kind == WRAPPED and KEY_BYTES <= len(body) <= WRAPPED_BYTES_MAX:
        return body
    if kind == WRAPPED or len(body) != KEY_BYTES:
        raise ValueError(f"key {name} is not the base64 of {KEY_BYTES} bytes")
    return body


@lru_cache(maxsize=8)
def _parse(entries: tuple[str, ...]) -> dict[str, Entry]:
    return parse(entries)


@lru_cache(maxsize=2)
def _service(path: str) -> KeyService:
    made: KeyService = import_string(path)()
    return made
