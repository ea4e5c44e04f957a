"""The limits of bringing money in, and what is used of them, ready to print."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.funding.methods import TEXTS
from funding.services.limits import Limits, Usage


@dataclass(frozen=True)
class LimitLine:
    """Cents; `most` None means unlimited, `used` None that nothing adds up."""

    label: str
    most: int | None
    used: int | None

    @property
    def left(self) -> int | None:
        if self.most is None or self.used is None:
            return None
        return max(self.most - self.used, 0)


def limit_lines(limits: Limits, usage: Usage) -> list[LimitLine]:
    each = [
        LimitLine(f"{TEXTS.title(method)}, each", most, None)
        for method, most in limits.per_transaction.items()
    ]
    return [
        *each,
        LimitLine("Today", limits.daily, usage.today),
        LimitLine("This month", limits.monthly, usage.this_month),
    ]
