"""The rows of the ledger that are sealed."""

from __future__ import annotations

from balance.models import Adjustment, AdjustmentProposal, BalanceTransaction, OperatorLine
from common.sealed import DatedRows, NumberedRows

KINDS = (
    # A line commits while its balance row is locked, so it commits after every line with a smaller
    # number.
    NumberedRows(
        name="ledger",
        label="ledger lines",
        model=BalanceTransaction,
        heads="SELECT tenant_id, sequence FROM balance",
        layouts=(
            "id tenant_id sequence type amount currency available_delta locked_delta"
            " available_after locked_after source_type source_id description created_at",
        ),
    ),
    DatedRows(
        name="adjustments",
        label="adjustments",
        model=Adjustment,
        layouts=("id tenant_id type amount reason actor_type actor_id created_at",),
    ),
    DatedRows(
        name="operator",
        label="lines of the operator",
        model=OperatorLine,
        layouts=("id step amount rail source_type source_id tenant_id day created_at",),
    ),
    DatedRows(
        name="proposals",
        label="decided proposals of adjustments",
        model=AdjustmentProposal,
        at="decided_at",
        layouts=(
            "id tenant_id type amount reason proposed_by_id proposed_at expires_at decision"
            " decided_by_id decided_at decision_note adjustment_id",
        ),
    ),
)
