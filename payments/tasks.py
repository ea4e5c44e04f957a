"""Celery tasks of this app. Each is a sweep, which an enqueue after commit runs early."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from common.engine.wakeups import enqueue_next
from payments.services import approvals, waiting
from payments.transfer import PAYMENTS
from transfers import submission
from transfers.inbox import messages


@shared_task(name="payments.submit_due")
def submit_due(**_future: object) -> None:
    submission.run(PAYMENTS, now=utc_now(), wake=lambda: enqueue_next("payments.submit_due"))


@shared_task(name="payments.process_network_events")
def process_network_events(**_future: object) -> None:
    name = "payments.process_network_events"
    messages.run(PAYMENTS, now=utc_now(), wake=lambda: enqueue_next(name))


@shared_task(name="payments.run_waiting")
def run_waiting(*, tenant_id: str | None = None, **_future: object) -> None:
    """Start the waiting payments of one tenant after a credit, or of all tenants."""
    if tenant_id is None:
        waiting.run_due(now=utc_now())
    else:
        waiting.run(tenant_id=tenant_id, now=utc_now())


@shared_task(name="payments.expire_waiting")
def expire_waiting(**_future: object) -> None:
    waiting.expire_due(now=utc_now())


@shared_task(name="payments.sweep_confirmations")
def sweep_confirmations(**_future: object) -> None:
    approvals.sweep(now=utc_now())
