"""How an account number stands in messages, and how it is recognized."""

from __future__ import annotations

from common import crypto
from networks import spellings


def as_sent(account_number: str) -> str:
    """The number as a message has it: without blanks, in upper case."""
    return spellings.canonical(account_number)


def fingerprint(account_number: str) -> str:
    """Equal for numbers that are equal in messages. The bank itself is not in it."""
    return crypto.fingerprint(as_sent(account_number), purpose="instant.account")
