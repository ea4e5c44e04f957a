"""What a seed decides before anything happens: who does what on which day, and what breaks where.

A plan without some of its acts and breaks is a plan again; that is how a failure is made smaller.
What a plan does not say (which process goes on next, what the bank does) follows from its `seed`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from random import Random

from simulation import themes
from simulation.themes import THEMES, TO_A_DEADLINE, TO_THE_END_OF_A_WAIT, Breakage, Role, Theme

TENANTS = 2
DAYS, ACTS_PER_DAY = 3, 60
_BUSY = 0.75
_BREAK_AS_THE_THEME_SAYS = 0.7
_AMONG = 1_000


@dataclass(frozen=True)
class Act:
    """One planned job. `pick` chooses among what exists by then, `amount` is cents."""

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
    """The call number `call` of the act number `act` breaks in the way of `kind`."""

    act: int
    call: int
    kind: Breakage

    @property
    def place(self) -> tuple[int, int]:
        return self.act, self.call


@dataclass(frozen=True)
class Plan:
    """`nights` are the hours that pass after each day, or the kind of deadline that it lasts to.
    `theme` is a name."""

    seed: str
    acts: tuple[Act, ...]
    breaks: tuple[Break, ...]
    nights: tuple[int, ...]
    theme: str

    def only(self, acts: Collection[int]) -> Plan:
        """The plan with only these acts, their breaks, and no days after the last of them."""
        kept = tuple(act for act in self.acts if act.number in acts)
        days = max((act.day for act in kept), default=0) + 1
        return replace(
            self,
            acts=kept,
            breaks=tuple(each for each in self.breaks if each.act in acts),
            nights=self.nights[:days],
        )

    def with_breaks(self, breaks: Collection[Break]) -> Plan:
        """The plan with only these breaks."""
        return replace(self, breaks=tuple(each for each in self.breaks if each in breaks))

    def words(self) -> list[str]:
        """The plan for people: each act, and what breaks in it."""
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


def make(
    seed: str, *, days: int = DAYS, acts_per_day: int = ACTS_PER_DAY, theme: str | None = None
) -> Plan:
    """The plan of a seed. Its theme is `theme`, or the one that the seed has."""
    name = theme or themes.of_seed(seed)
    about = THEMES[name]
    acts_per_day *= about.times
    chance = Random(f"plan of {seed}")
    nights = [chance.choice(about.nights) for _ in range(days)]
    acts: list[Act] = []
    for day in range(days):
        # If the night before led to a deadline, half of the day is about that deadline.
        led_to = nights[day - 1] in {TO_A_DEADLINE, TO_THE_END_OF_A_WAIT}
        morning = acts_per_day // 2 if day and (led_to or about.every_morning) else 0
        for place in range(acts_per_day):
            is_morning = place < morning
            acts.append(_act(chance, about, len(acts), day=day, is_morning=is_morning))
    drawn = [
        Break(_broken(chance, about, acts), _early(chance, about), kind)
        for kind in chance.choices(about.breakages, k=days * about.breaks)
    ]
    breaks = {each.place: each for each in drawn}  # one at a place
    return Plan(seed, tuple(acts), tuple(breaks.values()), tuple(nights), name)


def _broken(chance: Random, about: Theme, acts: Sequence[Act]) -> int:
    """The number of an act in which something breaks."""
    favored = [act for act in acts if act.kind in about.broken]
    is_favored = favored and chance.random() < _BREAK_AS_THE_THEME_SAYS
    return chance.choice(favored if is_favored else acts).number


def _early(chance: Random, about: Theme) -> int:
    """The number of a call in a job. Small numbers are more likely, because few jobs are long."""
    return min(chance.randint(1, about.calls), chance.randint(1, about.calls))


def _act(chance: Random, about: Theme, number: int, *, day: int, is_morning: bool) -> Act:
    (role,) = chance.choices(list(Role), about.shares)
    kinds = about.acts(role, is_morning=is_morning)
    (kind,) = chance.choices(list(kinds), list(kinds.values()))
    return Act(
        number=number,
        day=day,
        kind=kind,
        role=role,
        # One tenant is busy, so that processes have to wait for each other.
        tenant=0 if chance.random() < _BUSY else chance.randrange(TENANTS),
        pick=chance.randrange(_AMONG),
        amount=chance.choice(about.amounts),
        is_keyed=chance.random() < 0.5,
        luck=chance.random(),
    )
