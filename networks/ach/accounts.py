"""How an account number stands in files, and how it is recognized in those that come back."""

from __future__ import annotations

from common import crypto


def as_sent(account_number: str) -> str:
    """The number as a file has it: without blanks, in upper case."""
    return account_number.replace(" ", "").upper()


def fingerprint(account_number: str) -> str:
    """Equal for numbers that are equal in files. The bank itself is not in it: a return names it
    elsewhere, with fewer digits."""
    return crypto.fingerprint(as_sent(account_number), purpose="ach.account")
