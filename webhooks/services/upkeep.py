"""What a periodic job keeps in order, dispatcher or not."""

from __future__ import annotations

from datetime import datetime

from webhooks.dispatcher import runs
from webhooks.services import deliveries, health


def sweep(*, now: datetime) -> None:
    """Warn about and switch off failing endpoints, take what nobody waits for out of the queue,
    and deliver what is due where no dispatcher does."""
    health.review(now=now)
    deliveries.put_aside(now=now)
    runs.burst_if_alone(now=now)
