"""The bank of the simulation. It does what it is told and keeps its own record, but communicates
badly.

Requests get lost or come late, and answers get lost. Messages are delayed, repeated and shuffled,
and some have another amount. Of entries by ACH it says more than where they stand: when they
settle, that they leave later, that their account has another number, what becomes of a return. It
gives back what it said nothing of. Its record is never wrong: the product is judged by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from types import MappingProxyType

from networks import return_codes
from networks.base import (
    Accepted,
    AccountType,
    Answer,
    BankRecord,
    Correction,
    CorrectionOutcome,
    Custody,
    EventKind,
    Instruction,
    Method,
    NetworkEvent,
    NetworkUnavailable,
    Purpose,
    Withdrawal,
)
from networks.sandbox.bank import INSTANT_NAME, NAME
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
# What moves a transfer. All else that is said of one is noted, or is about its account.
MOVES = frozenset({K.ACCEPTED, K.FINAL, K.REJECTED, K.RETURNED})
# What else the bank says of an entry by ACH, before and behind what moves it, and how likely.
_BEFORE: Mapping[EventKind, tuple[tuple[EventKind, float], ...]] = MappingProxyType(
    {K.FINAL: ((K.SETTLED, 0.6),)}
)
_BEHIND: Mapping[EventKind, tuple[tuple[EventKind, float], ...]] = MappingProxyType(
    {
        K.ACCEPTED: ((K.RESCHEDULED, 0.2), (K.CORRECTED, 0.12)),
        K.RETURNED: ((K.RETURN_DISHONORED, 0.3), (K.RETURN_CONTESTED, 0.15)),
    }
)
_ACH = (Method.ACH_DEBIT, Method.ACH_CREDIT)
# The end of the numbers of accounts that have to be proven.
TO_PROVE = "50001"
# The end of the ids of messages with another amount, and of those that correct an account.
WRONG, CORRECTION = "-x", "-c"
_CODES = {K.RETURNED: "R01", K.REJECTED: "AM04"}
_DELAY_MAX = timedelta(minutes=20)
_LATE_MAX = timedelta(seconds=90)
_LOST_REQUEST, _LATE_REQUEST, _LOST_ANSWER = 0.05, 0.04, 0.06
_LOST_POLL, _LOST_ACKNOWLEDGEMENT, _REPEATED, _MISAMOUNTED = 0.04, 0.08, 0.15, 0.12
_SETTLES_LATER = timedelta(days=3)
_ID_LENGTH = 30  # of instructions


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
    is_withdrawn: bool = False

    def told(self, *, by: datetime) -> list[NetworkEvent]:
        """What the bank has rightly said of it by then, in order."""
        told = [message for message in self.messages if message.is_genuine]
        return [message.event for message in told if message.told_at <= by]

    def kinds(self, *, by: datetime) -> list[EventKind]:
        """What happened to it, as far as the bank has said so by then."""
        return [event.kind for event in self.told(by=by) if event.kind in MOVES]


class Bank:
    """What both rails lead to (`simulation.rails`). `is_calm`: nothing is lost or late any more.
    `returns` is the share of instructions that it returns at once, whatever else would have become
    of them."""

    capabilities = replace(
        CAPABILITIES,
        verification=replace(
            CAPABILITIES.verification,
            needed=lambda account: account.account_number.endswith(TO_PROVE),
        ),
    )

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
        if self._happens("request lost", _LOST_REQUEST):
            raise NetworkUnavailable("the request is lost (simulated)")
        answer = self._give_back(self.entries.get(instruction_id))
        self._on_the_way("bank: answer to withdraw")
        if self._happens("answer lost", _LOST_ANSWER):
            raise NetworkUnavailable("the answer is lost (simulated)")
        return answer

    def custody(self, instruction_ids: Sequence[str]) -> dict[str, Custody]:
        """What was handed over is at the bank."""
        return {}

    def _give_back(self, entry: Entry | None) -> Withdrawal:
        """What the bank said nothing of has not left."""
        if entry is None:
            return Withdrawal.TOO_LATE
        if entry.is_withdrawn:
            return Withdrawal.WITHDRAWN
        if any(message.told_at <= self._time.now for message in entry.messages):
            return Withdrawal.TOO_LATE
        event = self._event(entry, K.REJECTED, len(entry.messages), self._time.now)
        event = replace(event, code=return_codes.WITHDRAWN)
        self._tally.told.subtract(m.event.kind.value for m in entry.messages if m.is_genuine)
        self._tally.told[return_codes.WITHDRAWN] += 1
        entry.messages, entry.is_withdrawn = [Message(event, self._time.now)], True
        return Withdrawal.WITHDRAWN

    def records(self, instruction_ids: Sequence[str]) -> list[BankRecord]:
        self._on_the_way("bank: records")
        known = (self.entries.get(each) for each in instruction_ids)
        return [_record(entry, entry.kinds(by=self._time.now)) for entry in known if entry]

    def poll(
        self, *, now: datetime, limit: int, id_prefix: str = "", rail: str
    ) -> list[NetworkEvent]:
        self._on_the_way("bank: poll")
        self.arrive()
        waiting = [
            [m for m in entry.messages if m.told_at <= self._time.now and not m.acknowledged]
            for key, entry in self.entries.items()
            if key.startswith(id_prefix) and rail_of(entry.instruction.method) == rail
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
        self._on_the_way("bank: correction")
        if self._happens("answer lost", _LOST_ANSWER):
            raise NetworkUnavailable("the answer is lost (simulated)")
        return correction(event_id)

    def corrected(
        self, event_id: str, *, outcome: CorrectionOutcome, note: str, now: datetime
    ) -> None:
        """It keeps no list of what it corrected."""

    def has_news(self) -> bool:
        """Whether it says something by now that the product has not acknowledged."""
        messages = (message for entry in self.entries.values() for message in entry.messages)
        return any(m.told_at <= self._time.now and not m.acknowledged for m in messages)

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
        of_one = instruction.id if instruction.purpose is Purpose.VERIFICATION else ""
        told_apart = f"{instruction.description}{of_one}:{instruction.amount}"
        chance = Random(f"{self._seed}:{told_apart}")
        method = Method(instruction.method)
        kinds, at_once = self._fate(method, chance)
        if method in _ACH:
            kinds = tuple(_and_besides(kinds, chance))
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
            self._tally.told[kind.value] += 1
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
        dated = {K.SETTLED: at.date(), K.RESCHEDULED: (at + _SETTLES_LATER).date()}
        ending = CORRECTION if kind is K.CORRECTED else ""
        code = correction(entry.instruction.id).code if ending else _CODES.get(kind, "")
        return NetworkEvent(
            id=f"{entry.instruction.id}-{number}{ending}",
            network=rail_of(entry.instruction.method),
            instruction_id=entry.instruction.id,
            kind=kind,
            amount=entry.instruction.amount,
            currency=entry.instruction.currency,
            code=code,
            reference=entry.reference,
            occurred_at=at,
            settlement_date=dated.get(kind),
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


def _and_besides(kinds: Iterable[EventKind], chance: Random) -> Iterator[EventKind]:
    """What becomes of an entry, with what else the bank says of it in between."""
    for kind in kinds:
        for other, likelihood in _BEFORE.get(kind, ()):
            if chance.random() < likelihood:
                yield other
        yield kind
        for other, likelihood in _BEHIND.get(kind, ()):
            if chance.random() < likelihood:
                yield other


def rail_of(method: str) -> str:
    """The name of the rail that carries a method, as routes of the sandbox lead."""
    return INSTANT_NAME if method == Method.RTP_CREDIT else NAME


def correction(about: str) -> Correction:
    """What a notification says of an account. `about` is an instruction, or a message about it."""
    chance = Random(f"correction of {about[:_ID_LENGTH]}")
    if chance.random() < 0.3:
        return Correction(code="C05", account_type=chance.choice(list(AccountType)))
    return Correction(code="C01", account_number=f"5{chance.randrange(10**8):08d}")


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
