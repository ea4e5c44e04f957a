"""Waking a worker after commit. A lost wake-up costs a sweep's period, never the work."""

from __future__ import annotations

import os
from functools import lru_cache, partial
from typing import Any

import structlog
from celery import current_app
from django.db import transaction
from kombu import pools
from kombu.exceptions import KombuError
from redis import RedisError

from common.cooldown import CoolDown

log = structlog.get_logger(__name__)

# Celery's own publishing waits 6 s for a broker that refuses and 5 s for one that is silent
# (measured, kombu 5.7): too long inside a request, whose work is already committed.
_IMPATIENT = {"socket_connect_timeout": 0.2, "socket_timeout": 0.2, "max_retries": 0}
_POOL_WAIT_SECONDS = 0.2
# A worker that comes back drops older ones: the sweep has long found their rows.
_WORTHLESS_AFTER_SECONDS = 60
_broker_down = CoolDown(seconds=1)


def enqueue_on_commit(name: str, **arguments: object) -> None:
    """Send the task `name` once the current database transaction is committed.

    Best effort: a broker that is down is logged and forgotten, because the sweep finds the row.
    """
    transaction.on_commit(partial(_send, name, arguments), robust=True)


def _send(name: str, arguments: dict[str, object]) -> None:
    if not _broker_down.is_over:
        return
    try:
        with _producers(os.getpid()).acquire(block=True, timeout=_POOL_WAIT_SECONDS) as producer:
            current_app.send_task(
                name,
                kwargs=arguments,
                producer=producer,
                expires=_WORTHLESS_AFTER_SECONDS,
                retry=False,
                ignore_result=True,
            )
    except (KombuError, RedisError, OSError) as error:
        _broker_down.begin()
        log.warning("wake_up_lost", task=name, error=type(error).__name__)


@lru_cache(maxsize=1)
def _producers(_process: int) -> Any:
    """This process's connections for wake-ups; a forked child opens its own."""
    return pools.producers[current_app.connection_for_write(transport_options=_IMPATIENT)]
