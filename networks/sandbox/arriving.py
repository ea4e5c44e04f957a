"""How instructions reach the sandbox bank: a whole call in one transaction, each one for itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from common import crypto
from common.engine.lookups import one_of
from networks.base import (
    Accepted,
    Answer,
    Instruction,
    InstructionConflict,
    Method,
    NetworkUnavailable,
)
from networks.sandbox import scripts
from networks.sandbox.models import SandboxEvent, SandboxInstruction
from networks.sandbox.pace import Pace, due_times
from networks.sandbox.scripts import Step


@dataclass(frozen=True)
class Arrival:
    """An instruction that the bank carries. `steps` is all that the bank will say about it."""

    instruction: Instruction
    steps: tuple[Step, ...]

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """Tell equal terms from other ones without keeping the account number, under each key."""
        account = self.instruction.account
        terms = (
            self.instruction.method,
            self.instruction.currency,
            str(self.instruction.amount),
            account.routing_number,
            account.account_number,
            account.account_type,
        )
        return crypto.fingerprints("\0".join(terms), purpose="sandbox_bank.terms")

    @property
    def outages(self) -> int:
        """How many calls about it find the network down."""
        return scripts.outages(self.instruction.account.account_number)


def take_over(arrivals: Sequence[Arrival], *, network: str, now: datetime) -> dict[str, Answer]:
    """Record arrivals of different ids and, once the network is up, accept: all or nothing,
    whoever dies.

    `durable` because this is another world: a caller's rollback must not make it forget.
    """
    if not arrivals:
        return {}
    by_id = {each.instruction.id: each for each in arrivals}
    with transaction.atomic(durable=True):
        rows = _recorded(by_id, network, now)
        known = [row for row in rows if row.terms_digest in by_id[row.external_id].digests]
        _note_call([(row, by_id[row.external_id]) for row in known], now)
    answers: dict[str, Answer] = {
        each: InstructionConflict(f"{each} was used before with other terms") for each in by_id
    }
    return answers | {row.external_id: _answer(row) for row in known}


def receipt(row: SandboxInstruction) -> Accepted:
    """What the bank says of an instruction that it has taken over."""
    return Accepted(reference=row.reference, trace_number=row.trace_number)


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


def _recorded(
    by_id: Mapping[str, Arrival], network: str, now: datetime
) -> list[SandboxInstruction]:
    """The one row of each id, locked until the end of the transaction. In the order of the ids, so
    that two calls about the same ones wait for each other and not in a ring."""
    ids = sorted(by_id)
    first = [
        SandboxInstruction(
            network=network,
            external_id=each.instruction.id,
            method=each.instruction.method,
            amount=each.instruction.amount,
            currency=each.instruction.currency,
            terms_digest=each.digests[0],
            created_at=now,
        )
        for each in map(by_id.__getitem__, ids)
    ]
    SandboxInstruction.objects.bulk_create(first, ignore_conflicts=True)
    rows = SandboxInstruction.objects.select_for_update().filter(
        one_of("external_id", ids), network=network
    )
    return list(rows.order_by("external_id"))


def _note_call(found: Iterable[tuple[SandboxInstruction, Arrival]], now: datetime) -> None:
    """Count the call. Take over what is new, once the network is up for it, and fix all that will
    be said of it."""
    accepted: list[tuple[SandboxInstruction, Arrival]] = []
    others: list[tuple[SandboxInstruction, Arrival]] = []
    for row, arrival in found:
        row.submissions += 1
        is_new = row.accepted_at is None and row.submissions > arrival.outages
        (accepted if is_new else others).append((row, arrival))
    scripts_of = (_script(row, arrival, now) for row, arrival in accepted)
    SandboxEvent.objects.bulk_create(chain.from_iterable(scripts_of))
    for row, _ in accepted:
        row.accepted_at = now
    counted = F("submissions") + 1
    _update([row for row, _ in accepted], submissions=counted, accepted_at=now)
    _update([row for row, _ in others], submissions=counted)


def _script(row: SandboxInstruction, arrival: Arrival, now: datetime) -> Iterator[SandboxEvent]:
    """All that will be said of it. A request for payment that nobody answers lapses."""
    steps, expires_at = arrival.steps, arrival.instruction.expires_at
    pace = Pace(settings.SANDBOX_PACE)
    times = due_times(steps, method=Method(row.method), pace=pace, now=now)
    for sequence, (step, due_at) in enumerate(zip(steps, times, strict=True), start=1):
        yield schedule(row, step, sequence=sequence, due_at=due_at)
    if expires_at is not None and not steps:
        yield schedule(row, scripts.LAPSES, sequence=1, due_at=max(expires_at, now))


def _update(rows: Sequence[SandboxInstruction], **columns: Any) -> None:
    SandboxInstruction.objects.filter(one_of("pk", [row.pk for row in rows])).update(**columns)


def _answer(row: SandboxInstruction) -> Accepted | NetworkUnavailable:
    if row.accepted_at is None:
        return NetworkUnavailable("the sandbox network does not answer")
    return receipt(row)
