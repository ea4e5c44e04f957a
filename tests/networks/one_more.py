"""A second network, as an operator would connect one: instant, with one method of its own.

No product method will ever be called so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from common.clock import utc_now
from funding.models import FundingTransaction
from networks import schemes
from networks.base import (
    Accepted,
    Answer,
    BankRecord,
    Capabilities,
    Correction,
    CorrectionOutcome,
    Custody,
    EventKind,
    Instruction,
    InstructionConflict,
    NetworkEvent,
    Purpose,
    Withdrawal,
)
from transfers.methods import TransferMethod

NAME = "one_more"
REQUEST = "one_more_request"
TERMS = replace(schemes.INSTANT, amount_max=500_000)
METHOD = TransferMethod(
    name="one_more", network_method=REQUEST, words="one more request", usual_terms=TERMS
)


class OneMore:
    """Every account holder says yes at once."""

    name = NAME
    capabilities = Capabilities(methods={REQUEST: TERMS})

    def __init__(self) -> None:
        self.taken: dict[str, Instruction] = {}
        self._waiting: list[NetworkEvent] = []

    def submit_many(
        self, instructions: Sequence[Instruction], *, now: datetime
    ) -> dict[str, Answer]:
        return {each.id: self._take(each, now) for each in instructions}

    def find(self, instruction_id: str) -> Accepted | None:
        return Accepted(reference=f"om-{instruction_id}") if instruction_id in self.taken else None

    def withdraw(self, instruction_id: str, *, now: datetime) -> Withdrawal:
        return Withdrawal.TOO_LATE

    def custody(self, instruction_ids: Sequence[str]) -> dict[str, Custody]:
        return {}

    def records(self, instruction_ids: Sequence[str]) -> Sequence[BankRecord]:
        return [
            BankRecord(
                instruction_id=each.id,
                amount=each.amount,
                currency=each.currency,
                reference=f"om-{each.id}",
                is_final=True,
                is_returned=False,
            )
            for each in self.taken.values()
            if each.id in instruction_ids
        ]

    def poll(self, *, now: datetime, limit: int, id_prefix: str = "") -> Sequence[NetworkEvent]:
        ours = [event for event in self._waiting if event.instruction_id.startswith(id_prefix)]
        return ours[:limit]

    def acknowledge(self, event_ids: Iterable[str]) -> None:
        known = set(event_ids)
        self._waiting = [event for event in self._waiting if event.id not in known]

    def correction(self, event_id: str) -> Correction | None:
        return None

    def corrected(
        self, event_id: str, *, outcome: CorrectionOutcome, note: str, now: datetime
    ) -> None:
        """It keeps no list of what it corrected."""

    def say(self, kind: EventKind, *, about: FundingTransaction) -> None:
        """Report on a funding, whether it was handed over to us or not."""
        terms = Instruction(
            id=about.pk,
            method=REQUEST,
            amount=about.amount,
            account=about.source.in_clear(),
            description="",
            purpose=Purpose.TOPUP,
        )
        self._waiting.append(self._event(terms, kind, utc_now()))

    def _take(self, instruction: Instruction, now: datetime) -> Answer:
        known = self.taken.setdefault(instruction.id, instruction)
        if known is instruction:
            for kind in (EventKind.ACCEPTED, EventKind.FINAL):
                self._waiting.append(self._event(instruction, kind, now))
        elif known != instruction:
            return InstructionConflict(f"{instruction.id} was used before with other terms")
        return Accepted(reference=f"om-{instruction.id}")

    def _event(self, instruction: Instruction, kind: EventKind, now: datetime) -> NetworkEvent:
        return NetworkEvent(
            id=f"{instruction.id}-{kind}",
            network=NAME,
            instruction_id=instruction.id,
            kind=kind,
            amount=instruction.amount,
            currency=instruction.currency,
            reference=f"om-{instruction.id}",
            occurred_at=now,
        )
