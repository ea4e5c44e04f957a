"""Our accounts behind the rails, what banks say of them, and how it is compared with the books."""

from __future__ import annotations

from reconciliation.models.closing import ClosedDay, InTransit, TransitNote
from reconciliation.models.matching import ExpectedLine, Match, MatchedLine, Rule
from reconciliation.models.statements import (
    BankStatement,
    SettlementAccount,
    StatementFormat,
    StatementLine,
)
from reconciliation.models.suspense import BookedAs, BookedLine, Clearing, ClearingKind

__all__ = [
    "BankStatement",
    "BookedAs",
    "BookedLine",
    "Clearing",
    "ClearingKind",
    "ClosedDay",
    "ExpectedLine",
    "InTransit",
    "Match",
    "MatchedLine",
    "Rule",
    "SettlementAccount",
    "StatementFormat",
    "StatementLine",
    "TransitNote",
]
