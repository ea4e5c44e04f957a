"""What a report is made of: the bank's figures, which a closing brings, and the ledger's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from balance.operator.accounts import OperatorAccount
from balance.operator.totals import OperatorTotal
from solvency.tree import Amounts

_A = OperatorAccount
# What tenants' leaves say already, or the bank's side.
_NOT_OF_OTHERS = frozenset({_A.SETTLEMENT, _A.DEBITS_IN_TRANSIT, _A.BANK_CLEARING})


@dataclass(frozen=True, kw_only=True)
class ClosedFigures:
    """A settlement account at the end of the day that closed, in cents.

    `bank_closing` is the closing balance of its statement. `not_on_statement` is the sum of the
    operator's settlement lines that no statement up to the day shows, one by one: those in transit,
    and those written since (debits of settlement above zero, credits below). `own_funds` is what
    lay at the bank when the account began and no settlement line stands for: the balance that was
    agreed on, less the lines of the days before.
    """

    rail: str
    last4: str
    bank_closing: int
    not_on_statement: int
    own_funds: int


@dataclass(frozen=True, kw_only=True)
class Receivables:
    """What tenants owe whose balance is below zero: how many they are, and cents."""

    count: int
    amount: int


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Both sides of a report, of one moment."""

    accounts: Sequence[ClosedFigures]
    tenants: Amounts
    receivables: Receivables
    operator: Sequence[OperatorTotal]

    @property
    def at_the_bank(self) -> int:
        """What lies at the banks once all that is booked has arrived there, without what was the
        operator's own from the beginning."""
        return sum(
            account.bank_closing + account.not_on_statement - account.own_funds
            for account in self.accounts
        )

    @property
    def in_the_books(self) -> int:
        """What the settlement accounts say."""
        return sum(
            total.debit - total.credit
            for total in self.operator
            if total.account is OperatorAccount.SETTLEMENT
        )

    @property
    def owed(self) -> int:
        """What belongs to tenants, less what they owe, and to the operator's other accounts."""
        others = sum(total.credit - total.debit for total in self.others)
        return self.tenants.total - self.receivables.amount + others

    @property
    def others(self) -> list[OperatorTotal]:
        """The operator's other accounts: what is neither at the bank nor the tenants'."""
        return [total for total in self.operator if total.account not in _NOT_OF_OTHERS]

    @property
    def surplus(self) -> int:
        """By how much what lies at the banks, or is on its way there, covers what tenants own.

        Money out counts until it is final: it has left, and is still locked. Below zero it does not
        cover them, though both sides agree: own funds are gone, or nothing explains a credit.
        """
        lies = sum(each.bank_closing + each.not_on_statement for each in self.accounts)
        left = sum(
            total.debit - total.credit
            for total in self.operator
            if total.account is OperatorAccount.CREDITS_IN_TRANSIT
        )
        return lies + left - self.tenants.total

    @property
    def difference(self) -> int:
        """What is at the bank and belongs to nobody (above zero), or is missing (below)."""
        return self.at_the_bank - self.owed
