"""The Celery task for messages about ids of no app: no app asks for them."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from transfers.inbox import arrivals


@shared_task(name="networks.collect_unmatched")
def collect_unmatched(**_future: object) -> None:
    arrivals.collect_all(id_prefix="", now=utc_now())
