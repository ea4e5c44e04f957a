"""What seals cover of the networks' messages: what came, but not what became of it; and what two
people decided in place of a message."""

from __future__ import annotations

from common.sealed import DatedRows
from transfers.inbox.models import HandSettlement, InboundEvent, ReturnDishonor

KINDS = (
    DatedRows(
        name="messages",
        label="network messages",
        model=InboundEvent,
        at="received_at",
        tenant="NULL::text",
        layouts=(
            "id network event_id instruction_id kind amount currency code reason reference"
            " occurred_at received_at original digest",
            "id network event_id instruction_id kind amount currency code reason reference"
            " occurred_at received_at original digest by_hand",
            "id network event_id instruction_id kind amount currency code reason reference"
            " occurred_at received_at original digest by_hand settlement_date trace_number",
        ),
        left_out=(
            "outcome note decided_at attempts next_attempt_at refused_in resolution resolved_by"
            " resolved_at answer_due_at"
        ),
    ),
    DatedRows(
        name="hand_settlements",
        label="decided settlements by hand",
        model=HandSettlement,
        at="decided_at",
        layouts=(
            "id tenant_id subject_id kind amount bank_reference code reason proposed_by_id"
            " proposed_at decision decided_by_id decided_at decision_note event_id",
        ),
    ),
    DatedRows(
        name="return_dishonors",
        label="dishonored returns",
        model=ReturnDishonor,
        layouts=("id tenant_id subject_id direction network amount created_at",),
        left_out="dishonored_id contested_id due_at counted_at changed_at",
    ),
)
