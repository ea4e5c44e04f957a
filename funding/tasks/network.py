"""Sweeps that submit fundings and apply messages. An enqueue after commit runs them early."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from common.engine.wakeups import enqueue_next
from funding.transfer import FUNDING
from transfers import submission
from transfers.inbox import messages


@shared_task(name="funding.submit_due")
def submit_due(**_future: object) -> None:
    submission.run(FUNDING, now=utc_now(), wake=lambda: enqueue_next("funding.submit_due"))


@shared_task(name="funding.process_network_events")
def process_network_events(**_future: object) -> None:
    name = "funding.process_network_events"
    messages.run(FUNDING, now=utc_now(), wake=lambda: enqueue_next(name))
