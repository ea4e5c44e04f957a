"""Public ids: a prefix that says what it is, and a ULID that sorts by time.

48 bits of milliseconds, 10 of microseconds and 70 random bits, in Crockford's base 32, lower case.
An id is hard to guess but is never used as a secret.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from datetime import UTC, datetime, timedelta

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LETTERS = "abcdefghjkmnpqrstvwxyz"
_REQUEST_ID_LENGTH = 24
_RANDOM_LETTERS = 14  # 70 bits
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Two letters are made at a time, because an id is made for every row that is written.
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_LETTER_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
# Each letter stands for eight of the 256 bytes.
_LETTER_OF_BYTE = (_ALPHABET * 8).encode()
_ULID = re.compile(r"[0-7][0-9a-hjkmnp-tv-z]{25}")

ID_LENGTH_MAX = 32


def new(prefix: str) -> str:
    """A new id such as `ftx_01kaj9s3…`."""
    return f"{prefix}_{_moment()}{_chance(_RANDOM_LETTERS)}"


def several(prefix: str, count: int) -> list[str]:
    """New ids of the same moment. Among each other they have no order."""
    length = count * _RANDOM_LETTERS
    head, chance = f"{prefix}_{_moment()}", _chance(length)
    return [head + chance[at : at + _RANDOM_LETTERS] for at in range(0, length, _RANDOM_LETTERS)]


def lowest(prefix: str, moment: datetime) -> str:
    """No id is lower that is made at `moment` or later."""
    microseconds = (moment - _EPOCH) // timedelta(microseconds=1)
    return f"{prefix}_{_letters(microseconds)}{_ALPHABET[0] * _RANDOM_LETTERS}"


def _moment() -> str:
    """The present moment in twelve letters."""
    return _letters(time.time_ns() // 1_000)


def _letters(since_epoch: int) -> str:
    """A moment, in microseconds since 1970, in twelve letters."""
    milliseconds, microseconds = divmod(since_epoch, 1_000)
    bits = milliseconds << 10 | microseconds
    return (
        f"{_PAIRS[bits >> 50]}{_PAIRS[bits >> 40 & 1023]}{_PAIRS[bits >> 30 & 1023]}"
        f"{_PAIRS[bits >> 20 & 1023]}{_PAIRS[bits >> 10 & 1023]}{_PAIRS[bits & 1023]}"
    )


def _chance(length: int) -> str:
    return os.urandom(length).translate(_LETTER_OF_BYTE).decode()


def is_id(value: object, prefix: str) -> bool:
    """Whether `value` has the form of an id with this prefix."""
    if not isinstance(value, str) or not value.startswith(prefix + "_"):
        return False
    return _ULID.fullmatch(value, len(prefix) + 1) is not None


def new_request_id() -> str:
    """24 random letters, 108 bits. They are easy to read out, and a search for an amount never
    finds one."""
    number = secrets.randbelow(len(_LETTERS) ** _REQUEST_ID_LENGTH)
    pairs = []
    for _ in range(_REQUEST_ID_LENGTH // 2):
        number, pair = divmod(number, len(_LETTER_PAIRS))
        pairs.append(_LETTER_PAIRS[pair])
    return "".join(pairs)
