"""Celery tasks of this app."""

from __future__ import annotations

from celery import shared_task

from api import idempotency, request_log
from common.clock import utc_now


@shared_task(name="api.forget_idempotency_keys")
def forget_idempotency_keys(**_future: object) -> None:
    idempotency.forget_old(now=utc_now())


@shared_task(name="api.forget_requests")
def forget_requests(**_future: object) -> None:
    request_log.forget_old(now=utc_now())
