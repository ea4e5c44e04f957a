"""What happens over time: we hear the network, time passes, and we are asked what is new."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F

from common.clock import utc_now
from networks.base import NetworkEvent
from networks.instant import sending
from networks.instant.models import Conversation, InstantEvent, Message
from networks.instant.network import InstantNetwork
from networks.instant.receiving import listening
from tests.networks.instant.builders import RAIL


def hear() -> int:
    """Take what the network has, and send what we answer."""
    return listening.listen(RAIL, seconds=0, now=utc_now())


def wait(seconds: float) -> int:
    """Time passes for what is due: returns how many messages were seen to."""
    Message.objects.filter(next_attempt_at__isnull=False).update(
        next_attempt_at=F("next_attempt_at") - timedelta(seconds=seconds),
        leased_until=F("leased_until") - timedelta(seconds=seconds),
    )
    return sending.send_due(RAIL, now=utc_now())


def news(bank: InstantNetwork, *, days: int = 0) -> list[NetworkEvent]:
    """What is told now, or in some days, and was not told before."""
    told = bank.poll(now=utc_now() + timedelta(days=days), limit=100)
    bank.acknowledge([event.id for event in told])
    return told


def kinds(bank: InstantNetwork, *, days: int = 0) -> list[str]:
    return [f"{event.kind} {event.code}".strip() for event in news(bank, days=days)]


def received() -> list[str]:
    """What came that nobody asked for, which is written down and told nobody."""
    events = InstantEvent.objects.filter(kind="received", instruction_id="", acknowledged=True)
    return [event.kind for event in events]


def the(instruction_id: str) -> Conversation:
    return Conversation.objects.get(instruction_id=instruction_id)
