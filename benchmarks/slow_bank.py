"""Workers with a network more, whose every call takes 50 ms and which only ever accepts.

`celery -A benchmarks.slow_bank worker` runs the product's own application.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from types import MappingProxyType

from config.celery import app
from networks import registry, schemes
from networks.base import (
    Accepted,
    BankRecord,
    Capabilities,
    Correction,
    CorrectionOutcome,
    Custody,
    Instruction,
    Method,
    NetworkEvent,
    VerificationTerms,
    Withdrawal,
)

__all__ = ["NAME", "app"]

NAME = "slow"
CALL_SECONDS = 0.05


class SlowBank:
    """It keeps nothing, so that what is measured is ours."""

    name: str = NAME
    capabilities = Capabilities(
        methods=MappingProxyType({Method.ACH_DEBIT: schemes.ACH_DEBIT}),
        verification=VerificationTerms(needed=lambda account: False),
    )

    def submit_many(
        self, instructions: Sequence[Instruction], *, now: datetime
    ) -> dict[str, Accepted]:
        time.sleep(CALL_SECONDS)
        return {each.id: Accepted(reference=f"slow {each.id}") for each in instructions}

    def find(self, instruction_id: str) -> Accepted | None:
        return Accepted(reference=f"slow {instruction_id}")

    def withdraw(self, instruction_id: str, *, now: datetime) -> Withdrawal:
        return Withdrawal.TOO_LATE

    def custody(self, instruction_ids: Sequence[str]) -> dict[str, Custody]:
        return {}

    def records(self, instruction_ids: Sequence[str]) -> list[BankRecord] | None:
        return None

    def poll(self, *, now: datetime, limit: int, id_prefix: str = "") -> list[NetworkEvent]:
        return []

    def acknowledge(self, event_ids: Iterable[str]) -> None:
        """It says nothing, so there is nothing to acknowledge."""

    def correction(self, event_id: str) -> Correction | None:
        return None

    def corrected(
        self, event_id: str, *, outcome: CorrectionOutcome, note: str, now: datetime
    ) -> None:
        """It keeps no list of what it corrected."""


registry.connect(SlowBank(), modes=())
