"""The sandbox bank behind the protocol of every network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from common.engine.lookups import one_of
from networks import return_codes
from networks.base import (
    Accepted,
    Answer,
    BankRecord,
    Correction,
    CorrectionOutcome,
    Custody,
    EventKind,
    Instruction,
    InstructionRefused,
    Method,
    NetworkEvent,
    Purpose,
    Withdrawal,
)
from networks.sandbox import arriving, scripts, withdrawing
from networks.sandbox.arriving import Arrival
from networks.sandbox.models import FORMERLY_FINAL, SandboxEvent, SandboxInstruction
from networks.sandbox.scripts import Step
from networks.sandbox.terms import CAPABILITIES

NAME = "sandbox"
INSTANT_NAME = "sandbox_rtp"  # the rail of instant payments, with books of its own


class SandboxBank:
    """The account number alone decides what happens; SANDBOX_PACE decides how fast. Each rail has
    books of its own."""

    name: str = NAME
    capabilities = CAPABILITIES

    def __init__(self, name: str | None = None) -> None:
        self.name = name or self.name

    def submit_many(
        self, instructions: Sequence[Instruction], *, now: datetime
    ) -> dict[str, Answer]:
        answers: dict[str, Answer] = {}
        arrivals = []
        for each in instructions:
            method, amount = each.method, each.amount
            if self.capabilities.supports(method, amount=amount):
                arrivals.append(Arrival(each, steps=_steps(each)))
            else:
                reason = f"no {method} of {amount} cents"
                answers[each.id] = InstructionRefused(code="unsupported", reason=reason)
        return answers | arriving.take_over(arrivals, network=self.name, now=now)

    def find(self, instruction_id: str) -> Accepted | None:
        row = self._held().filter(external_id=instruction_id).first()
        return arriving.receipt(row) if row else None

    def withdraw(self, instruction_id: str, *, now: datetime) -> Withdrawal:
        return withdrawing.withdraw(instruction_id, network=self.name, now=now)

    def custody(self, instruction_ids: Sequence[str]) -> dict[str, Custody]:
        """It is the bank itself."""
        return {}

    def records(self, instruction_ids: Sequence[str]) -> list[BankRecord]:
        held = self._held().filter(external_id__in=list(instruction_ids))
        told, final = Q(events__acknowledged=True), (EventKind.FINAL, FORMERLY_FINAL)
        return [
            _record(row)
            for row in held.annotate(
                final=Count("events", filter=told & Q(events__kind__in=final)),
                returned=Count("events", filter=told & Q(events__kind=EventKind.RETURNED)),
            )
        ]

    def poll(self, *, now: datetime, limit: int, id_prefix: str = "") -> list[NetworkEvent]:
        waiting = self._told().filter(
            acknowledged=False,
            due_at__lte=now,
            instruction__external_id__startswith=id_prefix,
        )
        oldest_first = waiting.order_by("due_at", "instruction_id", "sequence")
        return [network_event(row) for row in oldest_first.select_related("instruction")[:limit]]

    def acknowledge(self, event_ids: Iterable[str]) -> None:
        self._told().filter(one_of("pk", list(event_ids))).update(acknowledged=True)

    def correction(self, event_id: str) -> Correction | None:
        """The event's code says it all: it stands for the account number that asked for it."""
        told = self._told().filter(pk=event_id, kind=EventKind.CORRECTED).first()
        return scripts.correction(told.code) if told else None

    def corrected(
        self, event_id: str, *, outcome: CorrectionOutcome, note: str, now: datetime
    ) -> None:
        """It keeps no list of what it corrected."""

    def _held(self) -> QuerySet[SandboxInstruction]:
        """The instructions that this bank has taken over."""
        return SandboxInstruction.objects.filter(network=self.name, accepted_at__isnull=False)

    def _told(self) -> QuerySet[SandboxEvent]:
        """The events of this bank, those in the future included."""
        return SandboxEvent.objects.filter(instruction__network=self.name)


def _steps(instruction: Instruction) -> tuple[Step, ...]:
    """All that the bank will say about an instruction."""
    number = instruction.account.account_number
    if instruction.purpose == Purpose.VERIFICATION:
        return scripts.micro_deposit_steps(number)
    return scripts.steps_for(Method(instruction.method), number)


def network_event(row: SandboxEvent) -> NetworkEvent:
    """What the bank says, as an event of the protocol."""
    return NetworkEvent(
        id=row.id,
        network=row.instruction.network,
        instruction_id=row.instruction.external_id,
        kind=row.says,
        amount=row.amount,
        currency=row.currency,
        code=row.code,
        reason=return_codes.lookup(row.code).title if row.code else "",
        reference=row.instruction.reference,
        occurred_at=row.due_at,
    )


def _record(row: Any) -> BankRecord:
    """What the bank's books say of an instruction. `row` also has how often it was final and
    returned."""
    return BankRecord(
        instruction_id=row.external_id,
        amount=row.amount,
        currency=row.currency,
        reference=row.reference,
        is_final=row.final > 0,
        is_returned=row.returned > 0,
    )
