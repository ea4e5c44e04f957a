"""Lines of a list under their days: those of the books, US Eastern, wherever the reader is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Generic, Protocol, TypeVar

from common import days


class Dated(Protocol):
    @property
    def at(self) -> datetime: ...


L = TypeVar("L", bound=Dated)


@dataclass(frozen=True)
class Day(Generic[L]):
    """The lines of one day. `label` names it; `is_named` where that is a word and not a date."""

    date: date
    label: str
    is_named: bool
    lines: list[L]


def by_day(lines: Sequence[L], *, today: date | None = None) -> list[Day[L]]:
    """`lines`, in their order, by days. With `today`, the last two days have names, and days of
    other years have their year."""
    return [
        Day(day, *_label(day, today), list(group))
        for day, group in groupby(lines, key=lambda line: days.day_of(line.at))
    ]


def _label(day: date, today: date | None) -> tuple[str, bool]:
    if today is not None and day == today:
        return "Today", True
    if today is not None and day == today - timedelta(days=1):
        return "Yesterday", True
    year = f", {day.year}" if today is not None and day.year != today.year else ""
    return f"{day:%b} {day.day}{year}", False
