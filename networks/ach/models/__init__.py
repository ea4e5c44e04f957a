"""The rows of ACH. Nothing is deleted, and what was agreed or sent never changes.

Tenants, staff and instructions are opaque text here: this package knows no other app.
"""

from __future__ import annotations

from networks.ach.models.corrections import Correction
from networks.ach.models.entries import AchEntry
from networks.ach.models.events import AchEvent
from networks.ach.models.files import AchBatch, OutFile, OutFileChunk, TraceCounter
from networks.ach.models.inbound import InFile, InFileChunk, InRecord
from networks.ach.models.originators import Originator
from networks.ach.models.proposals import AchProposal
from networks.ach.models.rails import AchKey, AchRail, RailLine, RailSwitch, RailVersion
from networks.ach.models.replies import AchReply
from networks.ach.models.reversals import AchReversal
from networks.ach.models.spoken import SpokenAnswer

__all__ = [
    "AchBatch",
    "AchEntry",
    "AchEvent",
    "AchKey",
    "AchProposal",
    "AchRail",
    "AchReply",
    "AchReversal",
    "Correction",
    "InFile",
    "InFileChunk",
    "InRecord",
    "Originator",
    "OutFile",
    "OutFileChunk",
    "RailLine",
    "RailSwitch",
    "RailVersion",
    "SpokenAnswer",
    "TraceCounter",
]
