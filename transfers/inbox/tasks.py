"""Messages that nobody asks for by the prefix of their ids."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from transfers.inbox import arrivals


@shared_task(name="networks.collect_unmatched")
def collect_unmatched(**_future: object) -> None:
    arrivals.collect_all(id_prefix="", now=utc_now())
