"""Refuses secrets that can be guessed, and one secret that would serve two purposes.

Each refusal is one sentence that says what to do and shows no secret. What a text or a key is made
of is not known here: a passphrase that somebody published cannot be told from a random text.
"""

from __future__ import annotations

import base64
import string
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import combinations, pairwise

from django.core.exceptions import ImproperlyConfigured

from common import crypto, key_ring

SECRET_KEY_CHARACTERS_MIN = 50
FINGERPRINT_KEY_CHARACTERS_MIN = 32
METRICS_TOKEN_CHARACTERS_MIN = 32
# Fewer different characters, or bytes, than this are no accident: `xxxx…`, thirty-two zeros.
DIFFERENT_MIN = 8
# What is as long as this is no part of another secret by accident.
_SHARED_MIN = 16
_PRINTABLE = frozenset(string.printable.encode())
_MAKE_A_TEXT = "make one with `python -c 'import secrets; print(secrets.token_urlsafe(50))'`"
_MAKE_A_KEY = (
    "make one with `python -c 'import base64, os; "
    'print("k1:" + base64.b64encode(os.urandom(32)).decode())\'`'
)


def require_random_text(
    name: str, value: str, *, characters_min: int, development: str = ""
) -> None:
    """Raises ImproperlyConfigured, which does not show the value."""
    if development and value == development:
        raise ImproperlyConfigured(f"{name} is the one of development: {_MAKE_A_TEXT}")
    if len(value) < characters_min:
        raise ImproperlyConfigured(
            f"{name} has fewer than {characters_min} characters: {_MAKE_A_TEXT}"
        )
    if len(set(value)) < DIFFERENT_MIN:
        raise ImproperlyConfigured(
            f"{name} has fewer than {DIFFERENT_MIN} different characters: {_MAKE_A_TEXT}"
        )
    if _follows_a_pattern(value.encode()):
        raise ImproperlyConfigured(f"{name} follows a pattern: {_MAKE_A_TEXT}")


def require_different(name: str, *values: str) -> None:
    """Of keys of which one takes the place of the others. Raises ImproperlyConfigured, which does
    not show them."""
    if len(set(values)) < len(values):
        raise ImproperlyConfigured(f"{name} has a key twice, or the one in use: take it out")


def require_random_keys(name: str, entries: Iterable[str], *, development: str) -> None:
    """Of entries such as `id:base64 of 32 bytes`. Raises ImproperlyConfigured, which does not show
    a key."""
    (public,) = key_ring.parse([development]).values()
    for key_id, entry in key_ring.parse(entries).items():
        where = f"{name}: key {key_id}"
        if entry.body == public.body:
            raise ImproperlyConfigured(f"{where} is the one of development: {_MAKE_A_KEY}")
        if len(set(entry.body)) < DIFFERENT_MIN:
            raise ImproperlyConfigured(
                f"{where} has fewer than {DIFFERENT_MIN} different bytes: {_MAKE_A_KEY}"
            )
        if entry.kind == key_ring.WRAPPED:  # what a key service makes of a key has its own form
            continue
        if _follows_a_pattern(entry.body):
            raise ImproperlyConfigured(f"{where} follows a pattern: {_MAKE_A_KEY}")
        if _PRINTABLE.issuperset(entry.body):
            raise ImproperlyConfigured(f"{where} is a text: {_MAKE_A_KEY}")


def parse_one_key(entries: Iterable[str]) -> dict[str, bytes]:
    """The key of the only entry `id:base64 of 32 bytes`. Raises ValueError, which does not show
    it."""
    keys = crypto.parse_keys(entries)
    if len(keys) > 1:
        raise ValueError("one key signs: give the public halves of the others")
    return keys


def require_public_keys(name: str, entries: Sequence[str], *, beside: Iterable[str]) -> None:
    """Of former keys, with ids of their own and unlike those in use. Raises
    ImproperlyConfigured."""
    try:
        crypto.parse_keys([*beside, *entries])
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None


def require_random_bytes(name: str, value: bytes) -> None:
    """Raises ImproperlyConfigured, which does not show the value."""
    if len(set(value)) < DIFFERENT_MIN or _follows_a_pattern(value):
        raise ImproperlyConfigured(
            f"{name} follows a pattern: let its receiver make a random one, or make one with"
            " `python -c 'import base64, os;"
            ' print("whsec_" + base64.b64encode(os.urandom(32)).decode())\'`'
        )


def require_one_purpose_each(**given: Iterable[str | bytes]) -> None:
    """Of the secrets of each setting: none is, or contains, or is the SHA-256 of, one of another.

    Raises ImproperlyConfigured, which shows no secret.
    """
    known = {name: set().union(*map(_forms, secrets)) for name, secrets in given.items()}
    for (one, ones), (other, others) in combinations(known.items(), 2):
        if any(_is_shared(mine, theirs) for mine in ones for theirs in others):
            raise ImproperlyConfigured(
                f"{one} and {other} are made of one secret: make another one for each, because who"
                " learns one of them would have both"
            )


def bodies_of(entries: Iterable[str]) -> list[bytes]:
    """The keys in entries such as `id:base64 of 32 bytes`."""
    return [entry.body for entry in key_ring.parse(entries).values()]


def _follows_a_pattern(value: bytes) -> bool:
    """Whether its bytes rise or fall evenly (0, 1, 2, …) or repeat what they began with.

    Of 32 random bytes less than one in 10^20 does; so does no random text of hexadecimal digits.
    """
    steps = {(after - before) % 256 for before, after in pairwise(value)}
    threes = [value[place : place + 3] for place in range(len(value) - 2)]
    return len(steps) < DIFFERENT_MIN or 2 * len(set(threes)) <= len(threes)


def _forms(secret: str | bytes) -> set[bytes]:
    """The ways in which a secret may stand in another setting; none if it is empty."""
    body = secret if isinstance(secret, bytes) else secret.encode()
    forms = {body, *_decoded(body)} if isinstance(secret, str) else {body, *_encoded(body)}
    digests = [sha256(form) for form in forms if form]
    return {form for form in forms if form} | {
        form for digest in digests for form in (digest.digest(), digest.hexdigest().encode())
    }


def _encoded(body: bytes) -> Iterable[bytes]:
    yield base64.b64encode(body).rstrip(b"=")
    yield base64.urlsafe_b64encode(body).rstrip(b"=")
    yield body.hex().encode()


def _decoded(text: bytes) -> Iterable[bytes]:
    bare = text.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    with suppress(ValueError):
        yield base64.b64decode(bare + b"=" * (-len(bare) % 4), validate=True)
    with suppress(ValueError):
        yield bytes.fromhex(text.decode())


def _is_shared(one: bytes, other: bytes) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= _SHARED_MIN and shorter in longer)
