"""What auto-funding would have done with the spending of the last 30 days."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise

from balance import history
from common import days
from funding.methods import METHODS
from funding.models import SOURCE_TYPE
from networks.base import MethodTerms

DAYS = 30
_MIDDAY = timedelta(hours=12)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """The settings that are tried out. Amounts are cents."""

    threshold: int
    amount: int
    method: str
    mode: str  # of the tenant: it says which network's terms hold
    monthly_limit: int | None = None

    @property
    def terms(self) -> MethodTerms:
        """The terms of the network that would bring the money in."""
        return METHODS[self.method].terms(self.mode)


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """What would have happened. Amounts are cents.

    `days_short`: how many days would have ended below zero, with the money still on its way.
    `is_capped`: the monthly limit would have kept it from firing.
    """

    days: int
    spent: int
    firings: int
    funded: int
    days_short: int
    is_capped: bool


def simulate(*, tenant_id: str, rule: Rule, now: datetime) -> Simulation:
    """Replay the last 30 Eastern days as if the rule had been on and nothing else had added money.

    Only the balances at the ends of days are read, so it costs two queries however much happened.
    All spending of a day counts at once.
    """
    period = days.last_days(now, DAYS)
    moments = [days.start_of(day) for day in period] + [now]
    ends = history.closings(tenant_id=tenant_id, moments=moments)
    added = history.brought_in(
        tenant_id=tenant_id, source_type=SOURCE_TYPE, after=ends[0].sequence, moments=moments
    )
    changes = [end.available - begin.available for begin, end in pairwise(ends)]
    spending = [funded - change for funded, change in zip(added, changes, strict=True)]
    return replay(rule, dict(zip(period, spending, strict=True)), opening=ends[0].available)


def replay(rule: Rule, spending: dict[date, int], *, opening: int) -> Simulation:
    """Apply the rule to known spending: cents by day, oldest day first.

    The balance starts at the threshold at least, where the rule would have kept it.
    """
    course = _Course(rule=rule, available=max(opening, rule.threshold))
    for day, spent in spending.items():
        course.live_through(day, spent)
    return Simulation(
        days=len(spending),
        spent=sum(spending.values()),
        firings=course.firings,
        funded=course.firings * rule.amount,
        days_short=course.days_short,
        is_capped=course.is_capped,
    )


@dataclass(kw_only=True)
class _Course:
    """The balance while the rule is replayed. As in reality, at most one funding is in flight."""

    rule: Rule
    available: int
    arrives_on: date | None = None
    firings: int = 0
    days_short: int = 0
    is_capped: bool = False
    fired_in: dict[tuple[int, int], int] = field(default_factory=dict)

    def live_through(self, day: date, spent: int) -> None:
        if self.arrives_on is not None and self.arrives_on <= day:
            self.available += self.rule.amount
            self.arrives_on = None
        self._fire_if_low(day)
        self.available -= spent
        self._fire_if_low(day)
        self.days_short += self.available < 0

    def _fire_if_low(self, day: date) -> None:
        missing = self.rule.threshold - self.available
        if missing <= 0 or self.arrives_on is not None:
            return
        if self.rule.terms.is_instant:
            times = self._allowed(day, -(-missing // self.rule.amount))
            self.available += times * self.rule.amount
        elif times := self._allowed(day, 1):
            at = days.start_of(day) + _MIDDAY
            self.arrives_on = self.rule.terms.expected_on(at)
        self.firings += times

    def _allowed(self, day: date, times: int) -> int:
        """How many of `times` firings the monthly limit allows. It counts them as fired."""
        month = (day.year, day.month)
        fired = self.fired_in.get(month, 0)
        if self.rule.monthly_limit is not None:
            left = self.rule.monthly_limit // self.rule.amount - fired
            self.is_capped = self.is_capped or left < times
            times = max(0, min(times, left))
        self.fired_in[month] = fired + times
        return times
