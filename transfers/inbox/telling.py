"""What banks said about a transfer besides where it stands: for the tenant, who reads it."""

from __future__ import annotations

from networks.base import EventKind
from transfers.inbox.models import InboundEvent, InboundOutcome

_KINDS = (
    EventKind.RESCHEDULED,
    EventKind.CORRECTED,
    EventKind.RETURN_DISHONORED,
    EventKind.RETURN_CONTESTED,
)


def besides(row_id: str) -> list[InboundEvent]:
    """Messages about this transfer that were applied and moved no money, in the order of
    their effects. Of corrections only those that changed the account."""
    found = InboundEvent.objects.filter(
        instruction_id=row_id, kind__in=_KINDS, outcome=InboundOutcome.APPLIED
    )
    return [
        event
        for event in found.order_by("decided_at", "pk")
        if event.kind != EventKind.CORRECTED or not event.note
    ]
