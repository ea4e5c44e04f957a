"""The text of an API key: `bal_test_…` or `bal_live_…`, 32 random bytes in base 62, a checksum.

The checksum rejects typing errors and made-up keys without a query. The random part is 256 bits, so
a plain SHA-256 digest is enough to store.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import zlib

from tenants.models import Mode

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_LENGTH = 43  # 32 bytes in base 62
_CHECKSUM_LENGTH = 6  # a CRC-32 in base 62
_WORDS = {Mode.SANDBOX: "bal_test_", Mode.LIVE: "bal_live_"}
_WORD_LENGTH = len("bal_test_")
_PREFIX_LENGTH = _WORD_LENGTH + 8
LENGTH = _WORD_LENGTH + _SECRET_LENGTH + _CHECKSUM_LENGTH


def new(mode: Mode) -> str:
    """A new key. Its text exists only until it was shown once."""
    secret = _base62(int.from_bytes(secrets.token_bytes(32)), _SECRET_LENGTH)
    body = _WORDS[mode] + secret
    return body + _checksum(body)


def prefix_of(text: str) -> str:
    """The public beginning, by which we find the row and people recognize their key."""
    return text[:_PREFIX_LENGTH]


def digest_of(text: str) -> str:
    """What we store of a key (SHA-256, hex)."""
    return hashlib.sha256(text.encode()).hexdigest()


def is_wellformed(text: str) -> bool:
    """Whether `text` can be a key at all: word, length and checksum. Costs no query."""
    if len(text) != LENGTH or not text.isascii():
        return False
    if not text.startswith(tuple(_WORDS.values())):
        return False
    body, checksum = text[:-_CHECKSUM_LENGTH], text[-_CHECKSUM_LENGTH:]
    return hmac.compare_digest(_checksum(body), checksum)


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 62)
        digits = _ALPHABET[rest] + digits
    return digits.rjust(length, "0")
