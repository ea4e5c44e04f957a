"""Counts what was tried: figures of one seed, which can be added up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass
class Tally:
    """`faults` by kind, `jobs` by name; `steps` are database and network calls. `told` is what the
    bank rightly says, by kind."""

    seeds: int = 0
    steps: int = 0
    waits: int = 0
    days: timedelta = timedelta(0)
    faults: Counter[str] = field(default_factory=Counter)
    jobs: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)

    def fault(self, kind: str, *, times: int = 1) -> None:
        if times:
            self.faults[kind] += times

    def add(self, other: Tally) -> None:
        self.seeds += other.seeds
        self.steps += other.steps
        self.waits += other.waits
        self.days += other.days
        self.faults += other.faults
        self.jobs += other.jobs
        self.told += other.told

    def lines(self) -> list[str]:
        """The figures as lines for people."""
        days = self.days / timedelta(days=1)
        return [
            f"{self.seeds} seeds, {days:,.1f} simulated days, {sum(self.jobs.values()):,} jobs,"
            f" {self.steps:,} calls, {self.waits:,} of them waited for a lock",
            f"faults: {_listed(self.faults)}",
            f"told by the bank: {_listed(self.told)}",
        ]


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.most_common()) or "none"
