"""The ledger: one balance per tenant, its append-only rows, and its audits.

Only this app imports these models; other apps use services and selectors.
"""

from __future__ import annotations

from balance.models.adjustments import Adjustment, AdjustmentProposal, ProposalDecision
from balance.models.checks import LedgerCheck, LedgerCheckpoint, LedgerFullProof
from balance.models.ledger import (
    DESCRIPTION_LENGTH_MAX,
    SOURCE_LENGTH_MAX,
    Balance,
    BalanceTransaction,
    JournalLeg,
)
from balance.models.months import ClosedMonthTotal
from balance.models.operator import OperatorDay, OperatorLine

__all__ = [
    "DESCRIPTION_LENGTH_MAX",
    "SOURCE_LENGTH_MAX",
    "Adjustment",
    "AdjustmentProposal",
    "Balance",
    "BalanceTransaction",
    "ClosedMonthTotal",
    "JournalLeg",
    "LedgerCheck",
    "LedgerCheckpoint",
    "LedgerFullProof",
    "OperatorDay",
    "OperatorLine",
    "ProposalDecision",
]
