"""What a bank says of a file that it was sent. The format is each bank's own: one module each.

A bank whose format is `none` says nothing: a file counts as accepted once the rail's time for that
is over (`networks.ach.acknowledging.accept_unanswered`).
"""

from __future__ import annotations

from types import MappingProxyType

from networks.ach.acknowledgments import jsonl
from networks.ach.acknowledgments.base import (
    REPEATED,
    Acknowledgment,
    Extent,
    Read,
    Reason,
    Source,
    Unreadable,
    Verdict,
)

READERS: MappingProxyType[str, Read] = MappingProxyType({"jsonl": jsonl.read})

__all__ = [
    "READERS",
    "REPEATED",
    "Acknowledgment",
    "Extent",
    "Read",
    "Reason",
    "Source",
    "Unreadable",
    "Verdict",
]
