"""What the bank and we ourselves allow in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

_SATURDAY = 5


def _is_weekday(day: date) -> bool:
    return day.weekday() < _SATURDAY


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Limits in cents, and the calendar by which effective dates are judged.

    The limit of same-day entries is the ACH operators' since March 2022; above it an entry would
    settle a day later than we promised. `tests_given` is what tests of accounts gave in earlier
    files and take back in this one.
    """

    entry_max: int = 9_999_999_999
    same_day_max: int = 100_000_000
    file_max: int = 999_999_999_999
    tests_given: int = 0
    is_banking_day: Callable[[date], bool] = _is_weekday
