"""Which banks take what over an instant network."""

from __future__ import annotations

from typing import NamedTuple

from networks.instant.states import ConversationKind


class Unreachable(NamedTuple):
    """Why a bank is not sent something: `code` is an InstructionRefused's."""

    code: str
    reason: str


def judge(rail: str, routing_number: str, kind: ConversationKind) -> Unreachable | None:
    """Why the bank of this routing number takes nothing of this kind; None: it is tried.

    No directory is imported yet, so every bank is tried.
    """
    return None
