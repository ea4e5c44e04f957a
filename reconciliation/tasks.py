"""The Celery tasks of reconciliation. All are sweeps: to run one twice does no harm."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from reconciliation import alarms, closing, fetching, proving, reading
from reconciliation.matching import running

# In seconds. A file of a million lines takes minutes; a killed worker's is taken up by the next.
_SOFT, _HARD = 13 * 60, 14 * 60


@shared_task(
    name="reconciliation.read_statements", soft_time_limit=_SOFT, time_limit=_HARD, acks_late=False
)
def read_statements(**_future: object) -> None:
    """Take the bank statements that came, and match what they show."""
    fetching.fetch_due(now=utc_now())
    if reading.read_due(now=utc_now()):
        running.run_due(now=utc_now())


@shared_task(
    name="reconciliation.match_lines", soft_time_limit=_SOFT, time_limit=_HARD, acks_late=False
)
def match_lines(**_future: object) -> None:
    """Find in the books what statements show, and book what the books cannot know."""
    running.run_due(now=utc_now())


@shared_task(
    name="reconciliation.close_days", soft_time_limit=_SOFT, time_limit=_HARD, acks_late=False
)
def close_days(**_future: object) -> None:
    """Close the days that can be closed, prove the newest one that every account has closed, and
    tell people what is late."""
    outcomes = closing.close_due(now=utc_now())
    proving.sweep(now=utc_now())
    alarms.tell(outcomes, now=utc_now())
