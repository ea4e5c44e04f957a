"""Celery tasks about transfers of all apps, and about messages whose ids are of no app."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from transfers import dishonors, position_alarms, suspensions
from transfers.inbox import arrivals


@shared_task(name="networks.collect_unmatched")
def collect_unmatched(**_future: object) -> None:
    arrivals.collect_all(id_prefix="", now=utc_now())


@shared_task(name="transfers.withdraw_suspended")
def withdraw_suspended(**_future: object) -> None:
    """Take back what suspended tenants have waiting for a bank's next file."""
    suspensions.withdraw_due(now=utc_now())


@shared_task(name="transfers.count_dishonored")
def count_dishonored(**_future: object) -> None:
    """Credit what dishonored returns brought back, once nobody may contest it."""
    dishonors.count_due(now=utc_now())


@shared_task(name="transfers.watch_positions")
def watch_positions(**_future: object) -> None:
    """Tell people where money at an instant network runs short."""
    position_alarms.tell(now=utc_now())
