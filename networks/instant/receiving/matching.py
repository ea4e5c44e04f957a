"""Which message of ours, or to us, something is about."""

from __future__ import annotations

from networks.instant.models import Conversation, Message
from networks.instant.rails import RailInForce
from networks.instant.receiving.faults import Fault
from networks.instant.settling import locked
from networks.instant.states import Direction


def ours(rail: RailInForce, message_id: str) -> Message | None:
    """The message from us of this id."""
    return _of(rail, message_id, Direction.OUT)


def theirs(rail: RailInForce, message_id: str) -> Message | None:
    """The message to us of this id."""
    return _of(rail, message_id, Direction.IN)


def nothing(rail: RailInForce, message_id: str) -> Fault:
    """Why a message is about none of this rail's."""
    elsewhere = Message.objects.filter(message_id=message_id).exclude(rail_id=rail.name)
    return Fault("of_another_rail" if elsewhere.exists() else "answers_nothing")


def conversation(message: Message, *, end_to_end_id: str = "") -> Conversation:
    """The conversation that a message belongs to, locked. Raises Fault, also where the end-to-end
    id that was given is another one's."""
    if message.conversation_id is None:
        raise Fault("answers_nothing")
    found = locked(message.conversation_id)
    if end_to_end_id and end_to_end_id != found.end_to_end_id:
        raise Fault("ids_disagree")
    return found


def _of(rail: RailInForce, message_id: str, direction: Direction) -> Message | None:
    rows = Message.objects.filter(rail_id=rail.name, direction=direction, message_id=message_id)
    return rows.exclude(fault="id_reused").select_related("related").first()
