"""Instructions to the sandbox bank, one line each."""

from __future__ import annotations

from typing import Any

from networks.base import AccountType, BankAccount, HolderType, Instruction, Method, Purpose


def account(number: str = "000123456789", **changes: Any) -> BankAccount:
    terms: dict[str, Any] = {
        "routing_number": "021000021",
        "account_number": number,
        "holder_name": "Acme Inc",
        "holder_type": HolderType.BUSINESS,
        "account_type": AccountType.CHECKING,
    }
    return BankAccount(**terms | changes)


def instruction(
    number: str = "000123456789",
    *,
    id: str = "ftx_1",
    method: Method = Method.ACH_DEBIT,
    amount: int = 25_000,
) -> Instruction:
    return Instruction(
        id=id, method=method, amount=amount, account=account(number), purpose=Purpose.TOPUP
    )
