"""The Celery tasks of this app."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from webhooks.services import retention, upkeep


@shared_task(name="webhooks.sweep")
def sweep(**_future: object) -> None:
    upkeep.sweep(now=utc_now())


@shared_task(name="webhooks.forget_old")
def forget_old(**_future: object) -> None:
    retention.forget_old(now=utc_now())
