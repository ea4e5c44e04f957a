"""What can happen to a balance, and the two accounts each kind moves money between."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import models


class PostingType(models.TextChoices):
    CREDIT = "credit"
    DEBIT = "debit"
    LOCK = "lock"
    UNLOCK = "unlock"
    SETTLEMENT = "settlement"


class Account(models.TextChoices):
    """`BANK_CLEARING` is money at the bank; the other two accounts are what we owe the tenant."""

    BANK_CLEARING = "bank_clearing", "Bank clearing"
    TENANT_AVAILABLE = "tenant_available", "Tenant available"
    TENANT_LOCKED = "tenant_locked", "Tenant locked"


@dataclass(frozen=True)
class Move:
    """One kind as a double entry: `source` is debited and `target` credited, by one amount."""

    source: Account
    target: Account

    def sign(self, account: Account) -> int:
        """How the tenant's balance on `account` changes: +1, 0 or -1."""
        return (self.target == account) - (self.source == account)


MOVES = {
    PostingType.CREDIT: Move(Account.BANK_CLEARING, Account.TENANT_AVAILABLE),
    PostingType.DEBIT: Move(Account.TENANT_AVAILABLE, Account.BANK_CLEARING),
    PostingType.LOCK: Move(Account.TENANT_AVAILABLE, Account.TENANT_LOCKED),
    PostingType.UNLOCK: Move(Account.TENANT_LOCKED, Account.TENANT_AVAILABLE),
    PostingType.SETTLEMENT: Move(Account.TENANT_LOCKED, Account.BANK_CLEARING),
}


_SIGNS = {
    kind: (move.sign(Account.TENANT_AVAILABLE), move.sign(Account.TENANT_LOCKED))
    for kind, move in MOVES.items()
}


def deltas(kind: PostingType, amount: int) -> tuple[int, int]:
    """Cents by which a posting changes the available balance, and the locked one."""
    available, locked = _SIGNS[kind]
    return available * amount, locked * amount
