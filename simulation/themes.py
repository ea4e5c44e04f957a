"""What a simulated history is about: which acts, nights and breaks its seed mostly draws.

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
# A night that ends just before the next deadline, or before the end of the next wait for money.
TO_A_DEADLINE, TO_THE_END_OF_A_WAIT = 0, -1
_HOURS = (4, 9, 20, 30)
# Amounts that are close to each other, so that a balance covers one thing and not two.
_AMOUNTS = (100, 250, 400, 600, 900)


class Breakage(StrEnum):
    """What can happen to a process at a call of its job."""

    CUT_BEFORE = "connection cut before a call"
    CUT_AFTER = "connection cut behind a call"
    LOST_ANSWER = "answer of the database lost"
    DEATH_BEFORE = "process died before a call"
    DEATH_AFTER = "process died behind a call"


class Role(StrEnum):
    """The kind of process that does an act."""

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
    "withdraw_payment": 4,
    "withdraw_funding": 4,
    "add_account": 2,
    "prove_account": 2,
    "approve": 5,
    "decline": 2,
    "configure": 3,
    "pause": 1,
    "summary": 3,
    "resend": 1,
}
# The tasks that read the messages of the bank.
READING: Weights = {"funding.process_network_events": 9, "payments.process_network_events": 9}
# The tasks that move money along.
ESSENTIAL: Weights = {
    "funding.submit_due": 7,
    "payments.submit_due": 7,
    **READING,
    "payments.run_waiting": 6,
    "transfers.count_dishonored": 2,
    "payments.expire_waiting": 4,
    "funding.process_verifications": 3,
    "funding.sweep_auto_funding": 3,
    "payments.sweep_confirmations": 3,
    "funding.sweep_confirmations": 2,
}
# The simulated bank sends what it is handed, so nothing of a suspended tenant waits there.
_IDLE = {"transfers.withdraw_suspended"}
_TASKS = [entry["task"] for entry in SCHEDULE.values() if entry["task"] not in _IDLE]
# Every other periodic task runs now and then.
SWEEPS: Weights = {**dict.fromkeys(_TASKS, 1), **ESSENTIAL}
# What people and periodic tasks do around a deadline.
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
    """`people` and `sweeps` are the acts of a day. `morning_people` and `morning_sweeps` are those
    of its first half after a night that led to a deadline or, with `every_morning`, after each
    night. `shares` is how the acts are divided among the web, the workers and the dispatchers.

    `nights` are hours, or the kind of deadline that a night lasts to. Each day has `breaks` breaks
    of the kinds in `breakages`. They come at one of the first `calls` of a job, mostly in one of
    the acts of `broken`, if there are any. `reads_at_night`: the bank's messages are read in the
    evening, and not only next morning. `returns` is the share of instructions that the bank returns
    because of the theme.
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
        """What a process of this role does at that time of the day."""
        if role is Role.DISPATCHER:
            return {DISPATCH: 1}
        if role is Role.WEB:
            return self.morning_people if is_morning else self.people
        return self.morning_sweeps if is_morning else self.sweeps


THEMES: dict[str, Theme] = {
    "ordinary": Theme(weight=2, nights=(*_HOURS, *[TO_A_DEADLINE] * 4), every_morning=False),
    # Many payments wait for money that does not come, and all of them end within seconds.
    "expiry": Theme(
        people={"pay_or_wait": 9, "debit": 3, "cancel_payment": 1, "hold_payment": 1, "approve": 1},
        sweeps={"payments.run_waiting": 1, "payments.expire_waiting": 1},
        shares=(9, 4, 1),
        amounts=(400, 600, 900),
        nights=(TO_THE_END_OF_A_WAIT,),
    ),
    # The bank returns much at once, and several workers read that in the morning.
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
    # Workers die, most of them while they apply the bank's messages.
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
    """The name of the theme of a seed. A few seeds in a row have all themes."""
    names = [name for name, theme in THEMES.items() for _ in range(theme.weight)]
    return names[int(seed) % len(names)]
