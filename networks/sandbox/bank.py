"""The sandbox bank behind the protocol of every network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q, QuerySet

from common import crypto
from networks import return_codes, schemes
from networks.base import (
    Accepted,
    BankAccount,
    BankRecord,
    Capabilities,
    EventKind,
    Instruction,
    InstructionConflict,
    InstructionRefused,
    Method,
    NetworkEvent,
    NetworkUnavailable,
)
from networks.sandbox import scripts
from networks.sandbox.models import SandboxEvent, SandboxInstruction
from networks.sandbox.pace import Pace, due_times
from networks.sandbox.scripts import Step

NAME = "sandbox"

CAPABILITIES = Capabilities(
    methods=MappingProxyType(
        {
            Method.ACH_DEBIT: schemes.ACH_DEBIT,
            Method.ACH_CREDIT: schemes.ACH_CREDIT,
            Method.RTP_REQUEST: schemes.INSTANT,
            Method.RTP_CREDIT: schemes.INSTANT,
        }
    )
)


class SandboxBank:
    """The account number alone decides what happens; SANDBOX_PACE decides how fast."""

    name: str = NAME
    capabilities = CAPABILITIES

    def submit(self, instruction: Instruction, *, now: datetime) -> Accepted:
        method, amount = instruction.method, instruction.amount
        if not self.capabilities.supports(method, amount=amount):
            raise InstructionRefused(code="unsupported", reason=f"no {method} of {amount} cents")
        steps = scripts.steps_for(Method(method), instruction.account.account_number)
        return self._take_over(instruction, amounts=(amount,), steps=steps, now=now)

    def find(self, instruction_id: str) -> Accepted | None:
        row = self._held().filter(external_id=instruction_id).first()
        return _receipt(row) if row else None

    def records(self, instruction_ids: Sequence[str]) -> list[BankRecord]:
        held = self._held().filter(external_id__in=list(instruction_ids))
        told = Q(events__acknowledged=True)
        return [
            _record(row)
            for row in held.annotate(
                settled=Count("events", filter=told & Q(events__kind=EventKind.SETTLED)),
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
        self._told().filter(pk__in=list(event_ids)).update(acknowledged=True)

    def needs_micro_deposits(self, account: BankAccount) -> bool:
        return scripts.needs_micro_deposits(account.account_number)

    def choose_micro_deposits(self) -> tuple[int, int]:
        return scripts.MICRO_DEPOSITS

    def send_micro_deposits(
        self,
        instruction_id: str,
        account: BankAccount,
        amounts: tuple[int, int],
        *,
        now: datetime,
    ) -> Accepted:
        credit = Instruction(
            id=instruction_id,
            method=Method.ACH_CREDIT,
            amount=sum(amounts),
            account=account,
            description="ACCTVERIFY",
        )
        steps = scripts.micro_deposit_steps(account.account_number)
        return self._take_over(credit, amounts=amounts, steps=steps, now=now)

    def _held(self) -> QuerySet[SandboxInstruction]:
        """The instructions that this bank has taken over."""
        return SandboxInstruction.objects.filter(network=self.name, accepted_at__isnull=False)

    def _told(self) -> QuerySet[SandboxEvent]:
        """The events of this bank, those in the future included."""
        return SandboxEvent.objects.filter(instruction__network=self.name)

    def _take_over(
        self,
        instruction: Instruction,
        *,
        amounts: tuple[int, ...],
        steps: tuple[Step, ...],
        now: datetime,
    ) -> Accepted:
        """Record the arrival of an instruction and, once the network is up, accept it. Either both
        happen or neither, whenever a process dies.

        `durable`, because this is another world: a caller's rollback must not make it forget.
        """
        digest = _digest(instruction, amounts)
        outages = scripts.outages(instruction.account.account_number)
        with transaction.atomic(durable=True):
            row = _record_arrival(instruction, network=self.name, digest=digest, now=now)
            if row.accepted_at is None and row.submissions > outages:
                _accept(row, steps, now=now)
            row.save(update_fields=["submissions", "accepted_at"])
        if row.accepted_at is None:
            raise NetworkUnavailable("the sandbox network does not answer")
        return _receipt(row)


def network_event(row: SandboxEvent) -> NetworkEvent:
    """What the bank says, as an event of the protocol."""
    return NetworkEvent(
        id=row.id,
        network=row.instruction.network,
        instruction_id=row.instruction.external_id,
        kind=EventKind(row.kind),
        amount=row.amount,
        currency=row.currency,
        code=row.code,
        reason=return_codes.lookup(row.code).title if row.code else "",
        reference=row.instruction.reference,
        occurred_at=row.due_at,
    )


def schedule(
    row: SandboxInstruction, step: Step, *, sequence: int, due_at: datetime
) -> SandboxEvent:
    """An unsaved event of an instruction."""
    return SandboxEvent(
        instruction=row,
        sequence=sequence,
        kind=step.kind,
        code=step.code,
        amount=row.amount,
        currency=row.currency,
        due_at=due_at,
    )


def _record_arrival(
    instruction: Instruction, *, network: str, digest: str, now: datetime
) -> SandboxInstruction:
    """The one row of this id, locked until the end of the transaction.

    Raises InstructionConflict if the id has other terms, or belongs to another bank.
    """
    first = SandboxInstruction(
        network=network,
        external_id=instruction.id,
        method=instruction.method,
        amount=instruction.amount,
        currency=instruction.currency,
        terms_digest=digest,
        created_at=now,
    )
    SandboxInstruction.objects.bulk_create([first], ignore_conflicts=True)
    row = SandboxInstruction.objects.select_for_update().get(external_id=instruction.id)
    if (row.network, row.terms_digest) != (network, digest):
        raise InstructionConflict(f"{instruction.id} was used before with other terms")
    row.submissions += 1
    return row


def _accept(row: SandboxInstruction, steps: tuple[Step, ...], *, now: datetime) -> None:
    pace = Pace(settings.SANDBOX_PACE)
    times = due_times(steps, method=Method(row.method), pace=pace, now=now)
    script = enumerate(zip(steps, times, strict=True), start=1)
    SandboxEvent.objects.bulk_create(
        schedule(row, step, sequence=sequence, due_at=due_at) for sequence, (step, due_at) in script
    )
    row.accepted_at = now


def _digest(instruction: Instruction, amounts: tuple[int, ...]) -> str:
    """A digest that tells equal terms from others without keeping the account number."""
    account = instruction.account
    terms = (
        instruction.method,
        instruction.currency,
        *map(str, amounts),
        account.routing_number,
        account.account_number,
        account.account_type,
    )
    return crypto.fingerprint("\0".join(terms), purpose="sandbox_bank.terms")


def _record(row: Any) -> BankRecord:
    """What the bank's books say of an instruction. `row` also has how often it was settled and
    returned."""
    return BankRecord(
        instruction_id=row.external_id,
        amount=row.amount,
        currency=row.currency,
        reference=row.reference,
        is_settled=row.settled > 0,
        is_returned=row.returned > 0,
    )


def _receipt(row: SandboxInstruction) -> Accepted:
    return Accepted(reference=row.reference, trace_number=row.trace_number)
