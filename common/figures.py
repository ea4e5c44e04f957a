"""Rows of the figures that several apps report about all tenants. Amounts are cents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, kw_only=True)
class StatusTotal:
    """How many rows are in one status, and the sum of their amounts."""

    status: str
    count: int
    cents: int


@dataclass(frozen=True, kw_only=True)
class FailureTotal:
    """What failed for one reason. `message` is the text of one of the rows."""

    code: str
    count: int
    cents: int
    message: str


@dataclass(frozen=True, kw_only=True)
class DayTotal:
    """What was handed to the networks on one Eastern day, by what became of it."""

    day: date
    completed: int
    moving: int
    failed: int
