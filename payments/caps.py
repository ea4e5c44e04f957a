"""The limits on money out: how much, and how many payments, in any 24 hours and any 30 days
(decision 0161). Amounts are cents; None is no limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from django.conf import settings

from tenants.models import Mode

# Payments are counted by the hour, so that a total is never far from a payment's own moment.
GRAIN = timedelta(hours=1)


class CapScope(StrEnum):
    """Whose payments are added up. A person's include those by the API keys that they are behind
    (decision 0169)."""

    TENANT = "tenant"
    RECIPIENT = "recipient"
    KEY = "key"
    PERSON = "person"


class Window(StrEnum):
    DAY = "day"
    MONTH = "month"

    @property
    def length(self) -> timedelta:
        return _LENGTHS[self]

    def first_hour(self, now: datetime) -> datetime:
        """The first hour that counts at `now`. The hour that has gone by in part counts whole, so
        that no span of `length` ever holds more than the limit."""
        return hour_of(now) - self.length

    def frees_at(self, hour: datetime) -> datetime:
        """When what was paid in this hour no longer counts."""
        return hour + self.length + GRAIN


_LENGTHS = MappingProxyType(
    {Window.DAY: timedelta(hours=24), Window.MONTH: timedelta(days=30)},
)


class Cap(NamedTuple):
    """The most of one scope in one window."""

    amount: int | None = None
    payments: int | None = None


# The limits of one tenant, for each scope and window.
Caps = Mapping[tuple[CapScope, Window], Cap]

KEYS = tuple((scope, window) for scope in CapScope for window in Window)
NONE: Caps = MappingProxyType(dict.fromkeys(KEYS, Cap()))


def hour_of(moment: datetime) -> datetime:
    """The hour in which a payment of this moment is counted."""
    return moment.replace(minute=0, second=0, microsecond=0)


def default(mode: str) -> Caps:
    """The limits of a tenant that has none of its own: those of the deployment for live tenants,
    none in the sandbox."""
    return from_stored(settings.PAYMENT_LIMITS) if mode == Mode.LIVE else NONE


def from_stored(stored: Mapping[str, Any]) -> Caps:
    """Read what `to_stored` made. What is not named has no limit."""
    found = {key: stored.get(".".join(key)) for key in KEYS}
    return {key: Cap(*value) if value else Cap() for key, value in found.items()}


def to_stored(caps: Caps) -> dict[str, list[int | None]]:
    """The limits as JSON: `{"tenant.day": [cents, payments], …}`, without those that are none."""
    return {".".join(key): list(caps[key]) for key in KEYS if caps[key] != Cap()}


def is_looser(before: Caps, after: Caps) -> bool:
    """Whether any limit of `after` lets through more than `before`."""
    return any(
        old is not None and (new is None or new > old)
        for key in KEYS
        for old, new in zip(before[key], after[key], strict=True)
    )
