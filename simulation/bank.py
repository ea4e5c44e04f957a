"""The bank of the simulation. It does what it is told and keeps its own record, but communicates
badly.

Requests get lost or come late, and answers get lost. Messages are delayed, repeated and shuffled,
and some have another amount. Its record is never wrong: the product is judged by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

from networks.base import (
    Accepted,
    Answer,
    BankRecord,
    Correction,
    EventKind,
    Instruction,
    Method,
    NetworkEvent,
    NetworkUnavailable,
    Withdrawal,
)
from networks.sandbox.bank import NAME
from networks.sandbox.terms import CAPABILITIES
from simulation.processes import current
from simulation.seams import Time
from simulation.tally import Tally

K = EventKind
# What can become of an instruction: how likely each is, and what the bank says about it, in order.
_FATES: dict[Method, list[tuple[int, tuple[EventKind, ...]]]] = {
    Method.ACH_DEBIT: [
        (55, (K.ACCEPTED, K.FINAL)),
        (15, (K.ACCEPTED, K.FINAL, K.RETURNED)),
        (15, (K.ACCEPTED, K.RETURNED)),
        (10, (K.REJECTED,)),
        (5, ()),
    ],
    Method.ACH_CREDIT: [
        (45, (K.ACCEPTED, K.FINAL)),
        (25, (K.ACCEPTED, K.FINAL, K.RETURNED)),
        (15, (K.ACCEPTED, K.RETURNED)),
        (10, (K.REJECTED,)),
        (5, ()),
    ],
    Method.RTP_CREDIT: [(75, (K.ACCEPTED, K.FINAL)), (20, (K.REJECTED,)), (5, ())],
    Method.RTP_REQUEST: [(75, (K.ACCEPTED, K.FINAL)), (20, (K.REJECTED,)), (5, ())],
}
# The end of the ids of messages with another amount.
WRONG = "-x"
_CODES = {K.RETURNED: "R01", K.REJECTED: "AM04"}
_DELAY_MAX = timedelta(minutes=20)
_LATE_MAX = timedelta(seconds=90)
_LOST_REQUEST, _LATE_REQUEST, _LOST_ANSWER = 0.05, 0.04, 0.06
_LOST_POLL, _LOST_ACKNOWLEDGEMENT, _REPEATED, _MISAMOUNTED = 0.04, 0.08, 0.15, 0.12


@dataclass
class Message:
    """One thing the bank says. `is_genuine`: it happened, and the amount is right."""

    event: NetworkEvent
    told_at: datetime
    is_genuine: bool = True
    acknowledged: bool = False


@dataclass
class Entry:
    """One instruction in the bank's record."""

    instruction: Instruction
    arrived_at: datetime
    reference: str
    submissions: int = 1
    messages: list[Message] = field(default_factory=list)

    def kinds(self, *, by: datetime) -> list[EventKind]:
        """What happened to it, as far as the bank has said so by then."""
        told = [message for message in self.messages if message.is_genuine]
        return [message.event.kind for message in told if message.told_at <= by]


class Bank:
    """A PaymentNetwork. `is_calm`: nothing is lost or late any more. `returns` is the share of
    instructions that it returns at once, whatever else would have become of them."""

    name = NAME
    capabilities = CAPABILITIES

    def __init__(self, *, seed: str, time: Time, tally: Tally, returns: float) -> None:
        self.entries: dict[str, Entry] = {}
        self.conflicts: list[str] = []
        self.is_calm = False
        self._seed = seed
        self._returns = returns
        self._time = time
        self._tally = tally
        self._late: list[tuple[datetime, Instruction]] = []
        self._calls = 0

    def submit_many(
        self, instructions: Sequence[Instruction], *, now: datetime
    ) -> dict[str, Answer]:
        """Whole calls and whole answers get lost or come late, and so do parts of them."""
        self._on_the_way("bank: submit")
        if self._happens("request lost", _LOST_REQUEST):
            raise NetworkUnavailable("the request is lost (simulated)")
        if self._happens("request late", _LATE_REQUEST):
            delay = _LATE_MAX * self._chance("lateness").random()
            self._late += [(self._time.now + delay, each) for each in instructions]
            raise NetworkUnavailable("the request is late (simulated)")
        answers: dict[str, Answer] = {}
        for each in instructions:
            if len(instructions) > 1 and self._happens("part of a request lost", _LOST_REQUEST):
                answers[each.id] = NetworkUnavailable("its request is lost (simulated)")
            else:
                answers[each.id] = Accepted(reference=self._take(each).reference)
        self._on_the_way("bank: answer to submit")
        if self._happens("answer lost", _LOST_ANSWER):
            raise NetworkUnavailable("the answer is lost (simulated)")
        for each in instructions:
            if len(instructions) > 1 and self._happens("part of an answer lost", _LOST_ANSWER):
                answers.pop(each.id)
        return answers

    def find(self, instruction_id: str) -> Accepted | None:
        self._on_the_way("bank: find")
        entry = self.entries.get(instruction_id)
        return Accepted(reference=entry.reference) if entry else None

    def withdraw(self, instruction_id: str, *, now: datetime) -> Withdrawal:
        """What it has taken over has left."""
        self._on_the_way("bank: withdraw")
        return Withdrawal.TOO_LATE

    def records(self, instruction_ids: Sequence[str]) -> list[BankRecord]:
        self._on_the_way("bank: records")
        known = (self.entries.get(each) for each in instruction_ids)
        return [_record(entry, entry.kinds(by=self._time.now)) for entry in known if entry]

    def poll(self, *, now: datetime, limit: int, id_prefix: str = "") -> list[NetworkEvent]:
        self._on_the_way("bank: poll")
        self.arrive()
        waiting = [
            [m for m in entry.messages if m.told_at <= self._time.now and not m.acknowledged]
            for key, entry in self.entries.items()
            if key.startswith(id_prefix)
        ]
        waiting = [messages for messages in waiting if messages]
        chance = self._chance("shuffled")
        if len(waiting) > 1 and not self.is_calm:
            chance.shuffle(waiting)
            self._tally.fault("messages shuffled")
        events = [message.event for messages in waiting for message in messages]
        if events and self._happens("messages repeated", _REPEATED):
            events += chance.sample(events, 1)
        self._on_the_way("bank: answer to poll")
        if self._happens("poll lost", _LOST_POLL):
            raise NetworkUnavailable("the messages are lost (simulated)")
        return events[:limit]

    def acknowledge(self, event_ids: Iterable[str]) -> None:
        known = set(event_ids)
        if not known:
            return
        self._on_the_way("bank: acknowledge")
        if self._happens("acknowledgement lost", _LOST_ACKNOWLEDGEMENT):
            raise NetworkUnavailable("the acknowledgement is lost (simulated)")
        for entry in self.entries.values():
            for message in entry.messages:
                message.acknowledged |= message.event.id in known

    def correction(self, event_id: str) -> Correction | None:
        return None

    def arrive(self) -> None:
        """Take in requests that the product gave up waiting for."""
        due = [each for each in self._late if each[0] <= self._time.now]
        self._late = [each for each in self._late if each[0] > self._time.now]
        for _, instruction in due:
            self._take(instruction)

    def _take(self, instruction: Instruction) -> Entry:
        known = self.entries.get(instruction.id)
        if known is None:
            known = self.entries[instruction.id] = Entry(
                instruction, self._time.now, f"SIM{len(self.entries):06d}"
            )
            self._script(known)
            return known
        known.submissions += 1
        if _terms(known.instruction) != _terms(instruction):
            self.conflicts.append(instruction.id)
        return known

    def _script(self, entry: Entry) -> None:
        """Decide, when an instruction arrives, everything that will happen to it."""
        instruction = entry.instruction
        chance = Random(f"{self._seed}:{instruction.description}:{instruction.amount}")
        kinds, at_once = self._fate(Method(instruction.method), chance)
        moment = entry.arrived_at + timedelta(minutes=1)
        told_at = moment
        for number, kind in enumerate(kinds):
            moment += timedelta(0) if at_once else timedelta(hours=chance.choice([0, 1, 20, 50]))
            delay = _DELAY_MAX * chance.random() if chance.random() < 0.4 else timedelta(0)
            self._tally.fault("message delayed", times=bool(delay))
            # A settlement and what follows it keep their order; the acceptance may come last.
            told_at = moment + delay if number <= 1 else max(told_at, moment + delay)
            event = self._event(entry, kind, number, moment)
            entry.messages.append(Message(event, told_at))
            if chance.random() < _MISAMOUNTED:
                self._tally.fault("message with another amount")
                wrong = replace(event, id=f"{event.id}{WRONG}", amount=event.amount + 1)
                entry.messages.append(Message(wrong, told_at, is_genuine=False))

    def _fate(self, method: Method, chance: Random) -> tuple[tuple[EventKind, ...], bool]:
        """Choose what will happen to an instruction, and whether all of it happens at one
        moment."""
        weights, fates = zip(*_FATES[method], strict=True)
        (kinds,) = chance.choices(fates, weights)
        at_once = chance.random() < 0.4
        returned = [fate for fate in fates if K.RETURNED in fate]
        if returned and self._returns and chance.random() < self._returns:
            return chance.choice(returned), True
        return kinds, at_once

    def _event(self, entry: Entry, kind: EventKind, number: int, at: datetime) -> NetworkEvent:
        return NetworkEvent(
            id=f"{entry.instruction.id}-{number}",
            network=NAME,
            instruction_id=entry.instruction.id,
            kind=kind,
            amount=entry.instruction.amount,
            currency=entry.instruction.currency,
            code=_CODES.get(kind, ""),
            reference=entry.reference,
            occurred_at=at,
        )

    def _on_the_way(self, place: str) -> None:
        process = current()
        if process is not None:
            process.pause(place)

    def _happens(self, fault: str, likelihood: float) -> bool:
        if self.is_calm or self._chance(fault).random() >= likelihood:
            return False
        self._tally.fault(fault)
        process = current()
        if process is not None and process.job is not None:
            process.job.is_faulted = True
        return True

    def _chance(self, what: str) -> Random:
        self._calls += 1
        return Random(f"{self._seed}:{what}:{self._calls}")


def _record(entry: Entry, kinds: Sequence[EventKind]) -> BankRecord:
    return BankRecord(
        instruction_id=entry.instruction.id,
        amount=entry.instruction.amount,
        currency=entry.instruction.currency,
        reference=entry.reference,
        is_final=K.FINAL in kinds,
        is_returned=K.RETURNED in kinds,
    )


def _terms(instruction: Instruction) -> tuple[object, ...]:
    return (
        instruction.method,
        instruction.amount,
        instruction.currency,
        instruction.account,
    )
