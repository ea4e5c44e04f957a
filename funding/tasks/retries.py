"""A sweep for what came back for want of funds, where a tenant's rule tries it again."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from funding.services import retries


@shared_task(name="funding.retry_returned")
def retry_returned(**_future: object) -> None:
    retries.run_due(now=utc_now())
