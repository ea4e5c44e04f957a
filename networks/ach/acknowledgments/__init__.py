"""What a bank says of a file that it was sent. The format is each bank's own: one module each.

A format named `none` has no module: such a bank says nothing, and a file counts as accepted once
the rail's time for that is over (`networks.ach.inbound.silence`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from networks.ach.acknowledgments import jsonl
from networks.ach.acknowledgments.base import Acknowledgment, Reason, Source, Unreadable, Verdict

NONE = "none"
READERS: MappingProxyType[str, Callable[[Source], Acknowledgment]] = MappingProxyType(
    {"jsonl": jsonl.read}
)

__all__ = ["NONE", "READERS", "Acknowledgment", "Reason", "Source", "Unreadable", "Verdict"]
