"""Celery tasks of this app."""

from __future__ import annotations

from celery import shared_task

from balance import invariants
from common.clock import utc_now


@shared_task(name="balance.check_ledger")
def check_ledger(*, full: bool = False, **_future: object) -> None:
    """Run the usual check with its share of the rolling full one, or the full check at once."""
    invariants.check(now=utc_now(), full=full, roll=not full)
