"""What a part found: figures with their aims, and the table that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.errors import CannotMeasure

WHY_MISSED = "(why, and what is next: PROFILE.md)"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Measured values of one thing. `aim` is a least value, or a most one with `at_most`."""

    name: str
    values: Sequence[float]
    unit: str = ""
    aim: float | None = None
    at_most: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        if not self.values:
            raise CannotMeasure(f"{self.name}: nothing was measured")

    @property
    def is_met(self) -> bool:
        if self.aim is None:
            return True
        return self.middle <= self.aim if self.at_most else self.middle >= self.aim

    @property
    def middle(self) -> float:
        return median(self.values)


@dataclass(frozen=True)
class Section:
    """One part's section of RESULTS.md. `text` says how it was measured."""

    title: str
    text: str
    figures: Sequence[Figure]

    @property
    def missed(self) -> list[Figure]:
        return [figure for figure in self.figures if not figure.is_met]

    def markdown(self) -> str:
        return f"{self.text}\n\n{table(self.figures)}"


def ratios(subjects: Sequence[float], ceilings: Sequence[float]) -> list[float]:
    """Pair by pair. Raises CannotMeasure where nothing was done."""
    if not all(value > 0 for value in (*subjects, *ceilings)):
        raise CannotMeasure("nothing was done in a slice")
    return [subject / ceiling for subject, ceiling in zip(subjects, ceilings, strict=True)]


def table(figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table."""
    head = ["| Figure | min | median | max | aim | |", "|---|---:|---:|---:|---:|---|"]
    return "\n".join(head + [_line(figure) for figure in figures])


def _line(figure: Figure) -> str:
    low, middle, high = (
        _number(value) for value in (min(figure.values), figure.middle, max(figure.values))
    )
    sign = "≤" if figure.at_most else "≥"
    aim = "–" if figure.aim is None else f"{sign} {_number(figure.aim)}"
    verdict = "" if figure.aim is None else ("met" if figure.is_met else "**missed**")
    unit = f" ({figure.unit})" if figure.unit else ""
    note = figure.note or ("" if figure.is_met else WHY_MISSED)
    remark = " ".join(filter(None, (verdict, note)))
    return f"| {figure.name}{unit} | {low} | **{middle}** | {high} | {aim} | {remark} |"


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.4f}"
