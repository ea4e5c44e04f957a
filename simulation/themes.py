"""What a simulated history is about: which acts, nights and breaks its seed draws mostly.

A theme is a situation that services get into, and never one particular bug: many things end at
once, the bank returns much, everybody moves one balance, processes die, connections are cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from config.beat import SCHEDULE
from simulation.scheduler import Pace

DISPATCH = "dispatch"
# A night that ends just before the next deadline of all, or before that of a wait for money.
TO_A_DEADLINE, TO_THE_END_OF_A_WAIT = 0, -1
_HOURS = (4, 9, 20, 30)
# Amounts near each other, so that a balance covers one thing and not two.
_AMOUNTS = (100, 250, 400, 600, 900)


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


Weights = Mapping[str, int]

PEOPLE: Weights = {
    "top_up": 9,
    "pay": 14,
    "pay_or_wait": 9,
    "cancel_payment": 5,
    "cancel_funding": 4,
    "credit": 8,
    "debit": 7,
    "level": 2,
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
# What reads the messages of the bank.
READING: Weights = {"funding.process_network_events": 9, "payments.process_network_events": 9}
# What moves money along.
ESSENTIAL: Weights = {
    "funding.submit_due": 7,
    "payments.submit_due": 7,
    **READING,
    "payments.run_waiting": 6,
    "payments.expire_waiting": 4,
    "funding.sweep_auto_funding": 3,
    "payments.sweep_confirmations": 3,
    "funding.sweep_confirmations": 2,
}
# Every other job of the beat runs now and then.
SWEEPS: Weights = {**dict.fromkeys([entry["task"] for entry in SCHEDULE.values()], 1), **ESSENTIAL}
# What people and the beat do around a deadline.
_AROUND_A_DEADLINE = {
    "approve": 6,
    "decline": 2,
    "cancel_payment": 4,
    "hold_payment": 4,
    "release_payment": 2,
    "pay_or_wait": 2,
    "credit": 3,
    "debit": 2,
}
_ENDING = {
    "payments.expire_waiting": 5,
    "payments.sweep_confirmations": 5,
    "funding.sweep_confirmations": 3,
    "payments.run_waiting": 3,
    "payments.submit_due": 2,
}
_MOST_PAY = {"pay": 8, "top_up": 3, "credit": 5}
_SENDING = {"payments.submit_due": 3, "funding.submit_due": 2}


@dataclass(frozen=True, kw_only=True)
class Theme:
    """`people` and `sweeps` are the acts of a day, `morning_people` and `morning_sweeps` those of
    the first half of a day behind a night: one that led to a deadline, or each (`every_morning`).
    `shares`: of the web, the workers, the dispatchers.

    `nights`: hours, or up to which deadline. `breaks` a day are of `breakages` and come at one of
    the first `calls` of a job, mostly in one of the acts of `broken` if there are any.
    `reads_at_night`: in the evening the bank's messages are read, and not only next morning.
    `returns`: the share of what the bank gets and returns because the theme says so.
    """

    weight: int = 1
    people: Weights = field(default_factory=lambda: PEOPLE)
    sweeps: Weights = field(default_factory=lambda: SWEEPS)
    morning_people: Weights = field(default_factory=lambda: _AROUND_A_DEADLINE)
    morning_sweeps: Weights = field(default_factory=lambda: _ENDING)
    every_morning: bool = True
    shares: tuple[int, int, int] = (11, 9, 2)
    amounts: tuple[int, ...] = _AMOUNTS
    nights: tuple[int, ...] = _HOURS
    breaks: int = 8
    breakages: tuple[Breakage, ...] = tuple(Breakage)
    broken: tuple[str, ...] = ()
    calls: int = 24
    reads_at_night: bool = True
    returns: float = 0.0
    web_processes: int = 4
    times: int = 1
    pace: Pace = field(default_factory=Pace)

    def acts(self, role: Role, *, is_morning: bool) -> Weights:
        """What a process of this role does then."""
        if role is Role.DISPATCHER:
            return {DISPATCH: 1}
        if role is Role.WEB:
            return self.morning_people if is_morning else self.people
        return self.morning_sweeps if is_morning else self.sweeps


THEMES: dict[str, Theme] = {
    "ordinary": Theme(weight=2, nights=(*_HOURS, *[TO_A_DEADLINE] * 4), every_morning=False),
    # Many wait for money that does not come, and all of it ends within seconds.
    "expiry": Theme(
        people={"pay_or_wait": 9, "debit": 3, "cancel_payment": 1, "hold_payment": 1, "approve": 1},
        sweeps={"payments.run_waiting": 1, "payments.expire_waiting": 1},
        shares=(9, 4, 1),
        amounts=(400, 600, 900),
        nights=(TO_THE_END_OF_A_WAIT,),
    ),
    # The bank returns much at once, and several workers read it in the morning.
    "returns": Theme(
        people=_MOST_PAY,
        sweeps=_SENDING,
        morning_people=PEOPLE,
        morning_sweeps=READING,
        shares=(8, 8, 1),
        amounts=(10, 20, 30),
        broken=tuple(READING),
        calls=60,
        reads_at_night=False,
        returns=0.7,
    ),
    # Everybody moves one balance up and down around the same amount.
    "hot balance": Theme(
        people={"pay": 6, "level": 20, "cancel_payment": 1, "top_up": 1},
        morning_people={"pay": 6, "level": 20, "summary": 1},
        shares=(16, 1, 1),
        amounts=(400,),
        breaks=3,
        web_processes=8,
        times=2,
        pace=Pace(slow=frozenset({"pay"}), slowness=0.7),
    ),
    # Workers die, most of them in the middle of the bank's messages.
    "dying workers": Theme(
        people=_MOST_PAY,
        morning_people=PEOPLE,
        morning_sweeps=ESSENTIAL,
        shares=(8, 10, 1),
        amounts=(10, 20, 30),
        breaks=20,
        breakages=(Breakage.DEATH_BEFORE, Breakage.DEATH_AFTER),
        broken=tuple(READING),
        reads_at_night=False,
    ),
    # The database is away for a moment, again and again.
    "outages": Theme(
        breaks=40,
        breakages=(Breakage.CUT_BEFORE, Breakage.CUT_AFTER, Breakage.LOST_ANSWER),
        calls=40,
    ),
}


def of_seed(seed: str) -> str:
    """The name of the theme that a seed is about: all of them come in any few seeds in a row."""
    names = [name for name, theme in THEMES.items() for _ in range(theme.weight)]
    return names[int(seed) % len(names)]
