"""What a bank account is called on every page: its bank and its last digits."""

from __future__ import annotations

from transfers.accounts import AccountData


def account_name(account: AccountData) -> str:
    return bank_name(account.bank_name, account.last4)


def bank_name(name: str, last4: str) -> str:
    """`First Platypus Bank ··6789`, the digits on the line of the last word."""
    return f"{name or 'Bank account'}\N{NO-BREAK SPACE}··{last4}"
