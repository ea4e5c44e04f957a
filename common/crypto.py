"""Encryption of account numbers and secrets at rest, and keyed fingerprints.

AES-256-GCM with a random 96-bit nonce. The token names its key, so that keys can be rotated: the
first key of `ENCRYPTION_KEYS` encrypts, each of them decrypts. `context` (table, column, row) is
authenticated but not stored, so a token that was moved to another row cannot be decrypted. Its
first part, up to the colon, is the purpose, and each purpose has a key of its own
(`common.key_ring`).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from common.key_ring import RING, KeyRefused

_NONCE_BYTES = 12
_KEY_BYTES = 32
_KEY_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


class Undecryptable(Exception):
    """The token was altered, belongs to another row, or its key is gone."""


class UnknownKey(Undecryptable):
    """Another process encrypted the token with a key that this one was not given, or the key
    service does not take that key."""


def encrypt(text: str, *, context: str) -> str:
    """Return `<key id>:<base64 of nonce and ciphertext>`. Raises KeyServiceAway."""
    name = current_key_id()
    nonce = secrets.token_bytes(_NONCE_BYTES)
    key = _key(name, context)
    encrypted = nonce + AESGCM(key).encrypt(nonce, text.encode(), context.encode())
    return f"{name}:{base64.b64encode(encrypted).decode()}"


def decrypt(token: str, *, context: str) -> str:
    """The text of `token`. Raises Undecryptable, UnknownKey, KeyServiceAway."""
    name, _, body = token.partition(":")
    if name not in RING.entries() and _KEY_NAME.fullmatch(name):
        raise UnknownKey(f"a value of {context} is encrypted with key {name!r}, which is not here")
    try:
        encrypted = base64.b64decode(body, validate=True)
        nonce, ciphertext = encrypted[:_NONCE_BYTES], encrypted[_NONCE_BYTES:]
        key = _key(name, context)
        return AESGCM(key).decrypt(nonce, ciphertext, context.encode()).decode()
    except (KeyError, ValueError, InvalidTag) as error:
        raise Undecryptable(f"cannot decrypt a value of {context}") from error


def key_id(token: str) -> str:
    """The id of the key that encrypted `token`."""
    return token.partition(":")[0]


def current_key_id() -> str:
    """The id of the key that encrypts new values."""
    return next(iter(RING.entries()))


def _key(name: str, context: str) -> bytes:
    """The key of the context's purpose. Raises KeyError, UnknownKey, KeyServiceAway."""
    try:
        return RING.key(name, purpose=context.partition(":")[0])
    except KeyRefused as error:
        raise UnknownKey(f"a value of {context} cannot be reached: {error}") from error


def fingerprint(text: str, *, purpose: str) -> str:
    """A keyed digest by which equal values are found without storing them (HMAC-SHA256, hex)."""
    return fingerprints(text, purpose=purpose)[0]


def fingerprints(text: str, *, purpose: str) -> tuple[str, ...]:
    """The fingerprint of a value under `FINGERPRINT_KEY`, and then under each former one."""
    keys = (settings.FINGERPRINT_KEY, *settings.FINGERPRINT_KEY_FALLBACKS)
    named = f"{purpose}\0{text}".encode()
    return tuple(hmac.new(key.encode(), named, hashlib.sha256).hexdigest() for key in keys)


def lasting(names: Sequence[str], stored: Callable[[Sequence[str]], Collection[str]]) -> str:
    """What a value with these `fingerprints` is called: as it is stored already, the longest known
    key first, or by the newest key.

    So a value keeps one name over a change of keys, or of the form that it is named by. `stored`
    says which of the names are stored; it is not asked where there is one name.
    """
    if len(names) == 1:
        return names[0]
    known = stored(names)
    return next((name for name in reversed(names) if name in known), names[0])


def parse_keys(entries: Iterable[str]) -> dict[str, bytes]:
    """The keys of entries such as `id:base64 of 32 bytes`, in order. Raises ValueError, which does
    not show the key."""
    keys: dict[str, bytes] = {}
    for entry in entries:
        name, _, body = entry.partition(":")
        if not _KEY_NAME.fullmatch(name) or name in keys:
            raise ValueError("each key needs an id of its own: letters, digits, - and _")
        keys[name] = _key_bytes(name, body)
    if not keys:
        raise ValueError("at least one key is needed")
    return keys


def _key_bytes(name: str, body: str) -> bytes:
    try:
        key = base64.b64decode(body, validate=True)
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise ValueError(f"key {name} is not the base64 of {_KEY_BYTES} bytes")
    return key


def parsed_keys(entries: Iterable[str]) -> dict[str, bytes]:
    """`parse_keys` for a setting that is read often: the same entries are parsed only once."""
    return _parse(tuple(entries))


@lru_cache(maxsize=8)
def _parse(entries: tuple[str, ...]) -> dict[str, bytes]:
    return parse_keys(entries)
