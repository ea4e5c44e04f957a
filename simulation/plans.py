"""What a seed decides before anything happens: who does what on which day, and what breaks where.

A plan is a value: without some of its acts and breaks it is a plan again, which is how a failure
shrinks. What is not in it (who goes on next, what the bank does) follows from its `seed`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from config.beat import SCHEDULE

TENANTS = 2
DAYS, ACTS_PER_DAY = 3, 60
BREAKS_PER_DAY = 8
_BREAK_AT_MOST = 24  # calls after a job began
# Amounts near each other, so that a balance covers one thing and not two.
AMOUNTS = (100, 250, 400, 600, 900)
NIGHTS = (4, 9, 20, 30)  # hours
# A night that ends just before the next deadline of a question or of a wait for money.
TO_A_DEADLINE = 0
_DEADLINE_NIGHTS = 0.5


class Breakage(StrEnum):
    """What can happen to a process at a call of its job."""

    CUT_BEFORE = "connection cut before a call"
    CUT_AFTER = "connection cut behind a call"
    LOST_ANSWER = "answer of the database lost"
    DEATH_BEFORE = "process died before a call"
    DEATH_AFTER = "process died behind a call"


class Role(StrEnum):
    """Which kind of process does it."""

    WEB = "web"
    WORKER = "worker"
    DISPATCHER = "dispatcher"


@dataclass(frozen=True)
class Act:
    """One planned job. `pick` chooses among what there is by then, `amount` is cents."""

    number: int
    day: int
    kind: str
    role: Role
    tenant: int
    pick: int
    amount: int
    is_keyed: bool
    luck: float


@dataclass(frozen=True)
class Break:
    """At its `call`-th call, act `act` meets `kind`."""

    act: int
    call: int
    kind: Breakage


@dataclass(frozen=True)
class Plan:
    """`nights`: the hours that pass after each day, or TO_A_DEADLINE."""

    seed: str
    acts: tuple[Act, ...]
    breaks: tuple[Break, ...]
    nights: tuple[int, ...]

    def only(self, acts: Collection[int]) -> Plan:
        """Without the other acts, what breaks in them, and the days behind the last one."""
        kept = tuple(act for act in self.acts if act.number in acts)
        days = max((act.day for act in kept), default=0) + 1
        return replace(
            self,
            acts=kept,
            breaks=tuple(each for each in self.breaks if each.act in acts),
            nights=self.nights[:days],
        )

    def with_breaks(self, breaks: Collection[Break]) -> Plan:
        """With these breaks alone."""
        return replace(self, breaks=tuple(each for each in self.breaks if each in breaks))

    def words(self) -> list[str]:
        """For people: each act, and what breaks in it."""
        breaks = {each.act: each for each in self.breaks}
        lines = []
        for act in self.acts:
            met = breaks.get(act.number)
            ending = f"; at call {met.call}: {met.kind}" if met else ""
            lines.append(
                f"day {act.day + 1}, act {act.number}: {act.kind} of tenant {act.tenant},"
                f" {act.amount} cents{', with a key' if act.is_keyed else ''}{ending}"
            )
        return lines


PEOPLE: dict[str, int] = {
    "top_up": 9,
    "pay": 14,
    "pay_or_wait": 9,
    "cancel_payment": 5,
    "cancel_funding": 4,
    "credit": 8,
    "debit": 7,
    "hold_payment": 3,
    "release_payment": 3,
    "stop_payment": 1,
    "hold_funding": 2,
    "release_funding": 2,
    "approve": 5,
    "decline": 2,
    "configure": 3,
    "pause": 1,
    "summary": 3,
    "resend": 1,
}
# What moves money along.
ESSENTIAL: dict[str, int] = {
    "funding.submit_due": 7,
    "payments.submit_due": 7,
    "funding.process_network_events": 9,
    "payments.process_network_events": 9,
    "payments.run_waiting": 6,
    "payments.expire_waiting": 4,
    "funding.sweep_auto_funding": 3,
    "payments.sweep_confirmations": 3,
    "funding.sweep_confirmations": 2,
}
# Every other job of the beat runs now and then.
SWEEPS = dict.fromkeys([entry["task"] for entry in SCHEDULE.values()], 1) | ESSENTIAL
# What people and the beat do around a deadline.
_RUSH = {
    Role.WEB: {
        "approve": 6,
        "decline": 2,
        "cancel_payment": 4,
        "hold_payment": 4,
        "release_payment": 2,
        "pay_or_wait": 2,
        "credit": 3,
        "debit": 2,
    },
    Role.WORKER: {
        "payments.expire_waiting": 5,
        "payments.sweep_confirmations": 5,
        "funding.sweep_confirmations": 3,
        "payments.run_waiting": 3,
        "payments.submit_due": 2,
    },
    Role.DISPATCHER: {"dispatch": 1},
}
DISPATCH = "dispatch"
_SHARE = {Role.WEB: 11, Role.WORKER: 9, Role.DISPATCHER: 2}


def make(seed: str, *, days: int = DAYS, acts_per_day: int = ACTS_PER_DAY) -> Plan:
    """The plan of a seed."""
    chance = Random(f"plan of {seed}")
    nights = [
        TO_A_DEADLINE if chance.random() < _DEADLINE_NIGHTS else chance.choice(NIGHTS)
        for _ in range(days)
    ]
    acts: list[Act] = []
    for day in range(days):
        # The night before this day; half of the day is what a deadline brings about.
        rush = acts_per_day // 2 if day and nights[day - 1] == TO_A_DEADLINE else 0
        for place in range(acts_per_day):
            acts.append(_act(chance, len(acts), day=day, is_rush=place < rush))
    breaks = [
        Break(chance.choice(acts).number, _early(chance), kind)
        for kind in chance.choices(list(Breakage), k=days * BREAKS_PER_DAY)
    ]
    return Plan(seed, tuple(acts), tuple(breaks), tuple(nights))


def _early(chance: Random) -> int:
    """A call of a job: earlier ones more often, because few jobs are long."""
    return min(chance.randint(1, _BREAK_AT_MOST), chance.randint(1, _BREAK_AT_MOST))


def _act(chance: Random, number: int, *, day: int, is_rush: bool) -> Act:
    (role,) = chance.choices(list(_SHARE), list(_SHARE.values()))
    usual = {Role.WEB: PEOPLE, Role.WORKER: SWEEPS, Role.DISPATCHER: {DISPATCH: 1}}
    kinds = (_RUSH if is_rush else usual)[role]
    (kind,) = chance.choices(list(kinds), list(kinds.values()))
    return Act(
        number=number,
        day=day,
        kind=kind,
        role=role,
        # One tenant is busy, so that there is somebody to wait for.
        tenant=0 if chance.random() < 0.75 else chance.randrange(TENANTS),
        pick=chance.randrange(1_000),
        amount=chance.choice(AMOUNTS),
        is_keyed=chance.random() < 0.5,
        luck=chance.random(),
    )
