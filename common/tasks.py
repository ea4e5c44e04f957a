"""Waking a worker after commit. A lost wake-up costs a sweep's period, never the work."""

from __future__ import annotations

from functools import partial

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)


def enqueue_on_commit(name: str, **arguments: object) -> None:
    """Send the task `name` once the current database transaction is committed.

    Best effort: a broker that is down is logged and forgotten, because the sweep finds the row.
    """
    transaction.on_commit(partial(_send, name, arguments), robust=True)


def _send(name: str, arguments: dict[str, object]) -> None:
    try:
        current_app.send_task(name, kwargs=arguments, retry=False, ignore_result=True)
    except OperationalError as error:
        log.warning("wake_up_lost", task=name, error=str(error))
