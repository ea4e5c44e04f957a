"""What a periodic job keeps in order, whether or not a dispatcher runs."""

from __future__ import annotations

from datetime import datetime

from common.database.job_doors import by
from common.database.jobs import WORKER
from webhooks.dispatcher import runs
from webhooks.services import deliveries, health


@by(WORKER)
def sweep(*, now: datetime) -> None:
    """Warn of failing endpoints and switch them off, end deliveries that nobody needs, and deliver
    what is due if no dispatcher is alive."""
    health.review(now=now)
    deliveries.put_aside(now=now)
    runs.burst_if_alone(now=now)
