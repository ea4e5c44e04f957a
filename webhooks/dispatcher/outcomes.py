"""What an answer means for a delivery: done, again later, or given up (`docs/webhooks.md`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from common.engine.http.client import Answer
from webhooks.states import DeliveryStatus

GONE = 410
_MAY_NAME_A_TIME = {429, 503}
RETRY_AFTER_MAX = timedelta(hours=6)
JITTER_MAX = 0.2
# Waits after the first, second, … failure. Eleven tries, about 76 hours.
SCHEDULE = (
    timedelta(seconds=5),
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)


@dataclass(frozen=True)
class Outcome:
    """The delivery's next status; while it stays pending, when it is due again."""

    status: DeliveryStatus
    next_attempt_at: datetime | None = None


def judge(answer: Answer, *, failures: int, jitter: float, now: datetime) -> Outcome:
    """Decide what becomes of a delivery. `failures` counts the failed tries of this round before
    this one. `jitter` (0 to 1) spreads retries."""
    if answer.is_success:
        return Outcome(DeliveryStatus.DELIVERED)
    if failures >= len(SCHEDULE):
        return Outcome(DeliveryStatus.FAILED)
    wait = SCHEDULE[failures] * (1 + JITTER_MAX * jitter)
    if answer.status in _MAY_NAME_A_TIME:
        wait = max(wait, retry_after(answer.retry_after, now=now))
    return Outcome(DeliveryStatus.PENDING, now + wait)


def retry_after(text: str | None, *, now: datetime) -> timedelta:
    """The wait that a `Retry-After` header asks for, as seconds or a date; at most 6 hours."""
    if not text:
        return timedelta(0)
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), RETRY_AFTER_MAX.total_seconds()))
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for years and offsets no date can hold
        return timedelta(0)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max(moment - now, timedelta(0)), RETRY_AFTER_MAX)
