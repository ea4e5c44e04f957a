"""Auto-funding and its approvals: sweeps, and an evaluation of one tenant after something
happened."""

from __future__ import annotations

from celery import shared_task

from common.clock import utc_now
from funding.services import approval_sweeps, auto_funding


@shared_task(name="funding.sweep_auto_funding")
def sweep_auto_funding(**_future: object) -> None:
    auto_funding.sweep(now=utc_now())


@shared_task(name="funding.evaluate_auto_funding")
def evaluate_auto_funding(*, tenant_id: str, **_future: object) -> None:
    auto_funding.evaluate_safely(tenant_id=tenant_id, now=utc_now())


@shared_task(name="funding.sweep_confirmations")
def sweep_confirmations(**_future: object) -> None:
    approval_sweeps.sweep(now=utc_now())
