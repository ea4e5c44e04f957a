"""What the rest of Ballast is told of instructions, written with what it is about."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime

from common.engine.wakeups import enqueue_on_commit
from networks.instant.models import Conversation, InstantEvent
from networks.instant.models.events import InstantEventKind

# Who waits for news, by how the ids of instructions begin. A sweep looks every second anyway.
_HEARD_BY = {
    "ftx_": "funding.process_network_events",
    "pay_": "payments.process_network_events",
}


def tell(
    about: Conversation,
    kind: InstantEventKind,
    *,
    now: datetime,
    due_at: datetime | None = None,
    code: str = "",
    reason: str = "",
    day: date | None = None,
) -> None:
    """Say one thing of an instruction, from `due_at` on, or at once. `day` is the network's day of
    settlement. What is about none of ours is written down and told nobody: a person has it."""
    InstantEvent.objects.create(
        rail_id=about.rail_id,
        conversation=about,
        instruction_id=about.instruction_id,
        kind=kind,
        code=code,
        reason=reason[:300],
        amount=about.amount,
        settlement_date=day,
        reference=about.reference,
        occurred_at=now,
        due_at=due_at or now,
        acknowledged=not about.instruction_id,
    )
    wake(about.instruction_id)


def take_back(about: Conversation, kinds: Collection[InstantEventKind], *, now: datetime) -> None:
    """What was foretold of an instruction and is untold is void."""
    events = InstantEvent.objects.filter(conversation=about, kind__in=list(kinds))
    events.filter(acknowledged=False, voided_at=None).update(voided_at=now)


def wake(instruction_id: str) -> None:
    """Have whoever waits for news of an instruction look at once."""
    for prefix, task in _HEARD_BY.items():
        if instruction_id.startswith(prefix):
            enqueue_on_commit(task)
