"""A sweep for micro-deposits. An enqueue after commit runs it early."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from funding.services import deposits


@shared_task(name="funding.process_verifications")
def process_verifications(**_future: object) -> None:
    deposits.process_due(now=utc_now())
