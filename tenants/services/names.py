"""The rule for names that people give to tenants and keys."""

from __future__ import annotations

from common import text
from tenants.errors import InvalidName

NAME_LENGTH_MAX = 120


def checked(name: str) -> str:
    """`name` without outer spaces, in NFC. Raises InvalidName."""
    try:
        composed = text.composed(name.strip())
    except text.Unseen:
        composed = ""
    if not 1 <= len(composed) <= NAME_LENGTH_MAX or not composed.isprintable():
        raise InvalidName(
            f"A name is 1 to {NAME_LENGTH_MAX} visible characters on one line.", field="name"
        )
    return composed
