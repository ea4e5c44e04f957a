"""The rows of instant rails. Nothing is deleted, and what was agreed or said never changes.

Tenants, staff and instructions are opaque text here: this package knows no other app.
"""

from __future__ import annotations

from networks.instant.models.asks import ReturnAsk
from networks.instant.models.conversations import Conversation
from networks.instant.models.events import InstantEvent
from networks.instant.models.messages import Message
from networks.instant.models.participants import Participant, ParticipantList
from networks.instant.models.positions import Position, PositionMove
from networks.instant.models.rails import InstantKey, InstantLine, InstantRail, InstantVersion

__all__ = [
    "Conversation",
    "InstantEvent",
    "InstantKey",
    "InstantLine",
    "InstantRail",
    "InstantVersion",
    "Message",
    "Participant",
    "ParticipantList",
    "Position",
    "PositionMove",
    "ReturnAsk",
]
