"""A live network as far as verification needs one: it takes deposits when told to be up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from funding.models import FundingSource, SourceVerification
from networks import registry, return_codes, schemes
from networks.base import (
    Accepted,
    Answer,
    BankRecord,
    Capabilities,
    EventKind,
    Instruction,
    InstructionRefused,
    Method,
    NetworkEvent,
    NetworkUnavailable,
    PaymentNetwork,
    Purpose,
    VerificationTerms,
    Withdrawal,
)
from tenants.models import Tenant
from tests.builders import make_source


@dataclass
class LiveNetwork:
    """`outages`: how many calls find it down. `refuses`: the methods by which it takes no deposits.
    `loses_answers`: it takes instructions and says nothing. Deposits are in `sent`. `gone`: the
    methods whose instructions have left; None for all. What has not left is given back.
    `asked_back`: which were to be withdrawn, each time."""

    outages: int = 0
    refuses: tuple[str, ...] = ()
    amounts: tuple[int, int] | None = (7, 31)
    name: str = "live"
    sent: list[Instruction] = field(default_factory=list)
    instructions: dict[str, Instruction] = field(default_factory=dict)
    loses_answers: bool = False
    events: list[NetworkEvent] = field(default_factory=list)
    gone: set[str] | None = None
    asked_back: list[str] = field(default_factory=list)

    @property
    def capabilities(self) -> Capabilities:
        terms = replace(schemes.ACH_DEBIT, amount_max=10**9, cutoffs=())
        methods = (Method.ACH_DEBIT, Method.ACH_CREDIT, Method.RTP_REQUEST)
        return Capabilities(
            methods=dict.fromkeys(methods, terms),
            verification=VerificationTerms(amounts=self.amounts),
        )

    def submit_many(
        self, instructions: Sequence[Instruction], *, now: datetime
    ) -> Mapping[str, Answer]:
        if self.outages:
            self.outages -= 1
            raise NetworkUnavailable("down")
        answers = {each.id: self._take(each) for each in instructions}
        if self.loses_answers:
            raise NetworkUnavailable("no answer")
        return answers

    def find(self, instruction_id: str) -> Accepted | None:
        ids = {*self.instructions, *(each.id for each in self.sent)}
        return Accepted(reference=instruction_id) if instruction_id in ids else None

    def _take(self, instruction: Instruction) -> Answer:
        if instruction.purpose != Purpose.VERIFICATION:
            self.instructions[instruction.id] = instruction
        elif instruction.method in self.refuses:
            return InstructionRefused(code="R13", reason="no such bank")
        elif self.find(instruction.id) is None:
            self.sent.append(instruction)
        return Accepted(reference=instruction.id)

    def withdraw(self, instruction_id: str, *, now: datetime) -> Withdrawal:
        self.asked_back.append(instruction_id)
        if self.outages:
            self.outages -= 1
            raise NetworkUnavailable("down")
        (mine,) = [each for each in self.sent if each.id == instruction_id]
        if self.gone is None or mine.method in self.gone:
            return Withdrawal.TOO_LATE
        self.events.append(
            NetworkEvent(
                id=f"back-{mine.id}",
                network=self.name,
                instruction_id=mine.id,
                kind=EventKind.REJECTED,
                amount=mine.amount,
                currency="USD",
                code=return_codes.WITHDRAWN,
                occurred_at=now,
            )
        )
        return Withdrawal.WITHDRAWN

    def records(self, instruction_ids: Sequence[str]) -> list[BankRecord]:
        """Nothing is final here."""
        return [
            BankRecord(
                instruction_id=each.id,
                amount=each.amount,
                currency=each.currency,
                reference=each.id,
                is_final=False,
                is_returned=False,
            )
            for each in (*self.instructions.values(), *self.sent)
            if each.id in instruction_ids
        ]

    def poll(self, *, now: datetime, limit: int, id_prefix: str = "") -> list[NetworkEvent]:
        return self.events[:limit]

    def acknowledge(self, event_ids: object) -> None:
        self.events.clear()


@contextmanager
def connected(live: LiveNetwork | None = None) -> Iterator[LiveNetwork]:
    """Live tenants have a network for this block."""
    live = live or LiveNetwork()
    disconnect = registry.connect(cast(PaymentNetwork, live), modes=("live",))
    try:
        yield live
    finally:
        disconnect()


def make_early_source(tenant: Tenant) -> FundingSource:
    """As an older release stored it for a live tenant without a network: nobody chose deposits."""
    with connected():
        source = make_source(tenant)
    FundingSource.objects.filter(pk=source.pk).update(supported_methods=["ach_debit"])
    SourceVerification.objects.filter(source=source).update(amounts=[])
    source.refresh_from_db()
    return source
