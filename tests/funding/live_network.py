"""A live network as far as verification needs one: it takes deposits when told to be up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from funding.models import FundingSource, SourceVerification
from networks import registry, schemes
from networks.base import (
    Accepted,
    Answer,
    BankAccount,
    Capabilities,
    Instruction,
    InstructionRefused,
    Method,
    NetworkEvent,
    NetworkUnavailable,
    PaymentNetwork,
)
from tenants.models import Tenant
from tests.builders import make_source


@dataclass
class LiveNetwork:
    """`outages`: how many calls find it down. `refuses`: whether it takes deposits at all.
    `loses_answers`: it takes instructions and says nothing."""

    outages: int = 0
    refuses: bool = False
    name: str = "live"
    sent: list[tuple[str, str, tuple[int, int]]] = field(default_factory=list)
    instructions: dict[str, Instruction] = field(default_factory=dict)
    loses_answers: bool = False
    events: list[NetworkEvent] = field(default_factory=list)

    @property
    def capabilities(self) -> Capabilities:
        terms = replace(schemes.ACH_DEBIT, amount_max=10**9, cutoffs=())
        return Capabilities(methods={Method.ACH_DEBIT: terms, Method.RTP_REQUEST: terms})

    def needs_micro_deposits(self, account: BankAccount) -> bool:
        return True

    def choose_micro_deposits(self) -> tuple[int, int]:
        return (7, 31)

    def send_micro_deposits(
        self, instruction_id: str, account: BankAccount, amounts: tuple[int, int], *, now: datetime
    ) -> Accepted:
        if self.outages:
            self.outages -= 1
            raise NetworkUnavailable("down")
        if self.refuses:
            raise InstructionRefused(code="R13", reason="no such bank")
        self.sent.append((instruction_id, account.account_number, amounts))
        return Accepted(reference="live-1")

    def submit_many(
        self, instructions: Sequence[Instruction], *, now: datetime
    ) -> Mapping[str, Answer]:
        self.instructions |= {each.id: each for each in instructions}
        if self.loses_answers:
            raise NetworkUnavailable("no answer")
        return {each.id: Accepted(reference=each.id) for each in instructions}

    def find(self, instruction_id: str) -> Accepted | None:
        return Accepted(reference=instruction_id) if instruction_id in self.instructions else None

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
