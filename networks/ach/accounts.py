"""How an account number is recognized in files that come back."""

from __future__ import annotations

from common import crypto


def fingerprint(account_number: str) -> str:
    """Equal for equal numbers, as a bank's file has them: without blanks. The bank itself is not in
    it: a return names it elsewhere, with fewer digits."""
    return crypto.fingerprint(account_number.replace(" ", ""), purpose="ach.account")
