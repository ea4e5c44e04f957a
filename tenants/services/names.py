"""The rule for names that people give to tenants and keys."""

from __future__ import annotations

from tenants.errors import InvalidName

NAME_LENGTH_MAX = 120


def checked(name: str) -> str:
    """`name` without outer spaces. Raises InvalidName."""
    text = name.strip()
    if not 1 <= len(text) <= NAME_LENGTH_MAX or not text.isprintable():
        raise InvalidName(
            f"A name is 1 to {NAME_LENGTH_MAX} visible characters on one line.", field="name"
        )
    return text
