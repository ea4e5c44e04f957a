"""Two ways of doing the same, measured in turns, and the ratio between them.

Absolute numbers belong to one machine at one moment; a ratio of neighbours in time travels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.errors import CannotMeasure

Measure = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Case:
    """`subject` against `ceiling`: each call runs once and returns operations per second."""

    name: str
    ceiling: Measure
    subject: Measure
    aim: float | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The rates of one case, pair by pair."""

    name: str
    ceilings: Sequence[float]
    subjects: Sequence[float]
    aim: float | None = None

    @property
    def ratios(self) -> list[float]:
        pairs = zip(self.subjects, self.ceilings, strict=True)
        return [subject / ceiling for subject, ceiling in pairs]

    @property
    def meets_aim(self) -> bool:
        return self.aim is None or median(self.ratios) >= self.aim


def run(case: Case, *, pairs: int, tell: Callable[[str], None]) -> Outcome:
    """Measure `pairs` times in turns, each pair in the other order. Raises CannotMeasure."""
    ceilings: list[float] = []
    subjects: list[float] = []
    for number in range(pairs):
        turns = [(case.ceiling, ceilings), (case.subject, subjects)]
        for measure, rates in turns if number % 2 == 0 else reversed(turns):
            rates.append(_positive(measure(), case.name))
        tell(f"{case.name}: pair {number + 1} of {pairs}: {subjects[-1] / ceilings[-1]:.2f}")
    return Outcome(name=case.name, ceilings=ceilings, subjects=subjects, aim=case.aim)


def table(outcomes: Sequence[Outcome], *, ceiling: str, subject: str) -> str:
    """The outcomes as a Markdown table."""
    lines = [
        f"| Case | {ceiling} /s | {subject} /s | ratio min | median | max | aim |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    return "\n".join(lines + [_line(outcome) for outcome in outcomes])


def _line(outcome: Outcome) -> str:
    ratios = outcome.ratios
    aim = "–" if outcome.aim is None else f"{outcome.aim:.2f}"
    cells = [
        outcome.name,
        f"{median(outcome.ceilings):,.0f}",
        f"{median(outcome.subjects):,.0f}",
        f"{min(ratios):.2f}",
        f"**{median(ratios):.2f}**",
        f"{max(ratios):.2f}",
        aim,
    ]
    return f"| {' | '.join(cells)} |"


def _positive(rate: float, name: str) -> float:
    if not rate > 0:
        raise CannotMeasure(f"{name}: nothing was done")
    return rate
