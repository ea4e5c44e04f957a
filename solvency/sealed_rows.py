"""What seals cover of proofs of funds: the signed reports. Trees and leaves follow from these: the
audit computes the root again."""

from __future__ import annotations

from common.sealed import DatedRows
from solvency.models import ProofReport

KINDS = (
    DatedRows(
        name="proofs_of_funds",
        label="proofs of funds",
        model=ProofReport,
        at="taken_at",
        tenant="NULL::text",
        layouts=("id day follows_id content digest key_id signature taken_at",),
    ),
)
