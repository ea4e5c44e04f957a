"""Waking a worker after commit. A lost wake-up only means that the next sweep does the work."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from functools import lru_cache
from typing import Any

import structlog
from celery import current_app
from django.db import transaction
from kombu import pools
from kombu.exceptions import KombuError
from redis import RedisError

from common.engine.cooldown import CoolDown

log = structlog.get_logger(__name__)

# Celery's own publishing waits 6 s for a broker that refuses and 5 s for one that is silent
# (measured, kombu 5.7): too long inside a request, whose work is already committed.
_IMPATIENT = {"socket_connect_timeout": 0.2, "socket_timeout": 0.2, "max_retries": 0}
_POOL_WAIT_SECONDS = 0.2
# A worker that comes back drops wake-ups older than this: a sweep has found their rows by then.
_WORTHLESS_AFTER_SECONDS = 60
# A busy process sends its wake-ups in bundles; a quiet one sends each at once.
_PAUSE_SECONDS = 0.05
# It repeats a wake-up no sooner than this, so that each run of a task finds more to do.
_REPEAT_SECONDS = 0.25
_broker_down = CoolDown(seconds=1)


def enqueue_on_commit(name: str, **arguments: object) -> None:
    """Send the task `name` once the current database transaction is committed.

    A broker that is down is logged and otherwise ignored, because the sweep finds the row. The
    caller does not wait for the broker. While a wake-up is still to be sent, repeats of it are
    dropped; one that this process sent just now waits for a quarter of a second.
    """
    _after_commit(lambda: _send(name, arguments))


def enqueue_next(name: str) -> None:
    """`enqueue_on_commit` of a run that left more to do: it is sent at once."""
    _after_commit(lambda: _send(name, {}, is_next=True))


def _after_commit(send: Callable[[], None]) -> None:
    """`send` is a function and no `partial`: Django logs what it raises under its `__qualname__`,
    and without one would raise in its place, after the commit."""
    transaction.on_commit(send, robust=True)


def flush(*, seconds: float = 1) -> bool:
    """Wait until all wake-ups are sent or given up. Returns whether they are."""
    return _sender.flush(seconds)


_WakeUp = tuple[Context, str, dict[str, object]]


class _Sender:
    """A thread of this process, which starts with the first wake-up."""

    def __init__(self) -> None:
        self._waiting: dict[str, _WakeUp] = {}
        self._sent: dict[str, float] = {}  # when, by `time.monotonic`, for a while
        self._changed = threading.Condition()
        self._is_sending = False
        self._thread: threading.Thread | None = None

    def add(self, name: str, arguments: dict[str, object], *, is_next: bool = False) -> None:
        with self._changed:
            wake_up = (copy_context(), name, arguments)  # with what is bound for the log
            key = f"{name} {arguments}"
            self._waiting.setdefault(key, wake_up)
            if is_next:
                self._sent.pop(key, None)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="wake-ups", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(
                lambda: not (self._waiting or self._is_sending), timeout=seconds
            )

    def _run(self) -> None:
        while True:
            with self._changed:
                batch = self._await_ready()
                self._is_sending = True
            for context, name, arguments in batch:
                try:
                    context.run(_send_now, name, arguments)
                except Exception:
                    log.exception("wake_up_failed", task=name)
            with self._changed:
                self._is_sending = False
                self._changed.notify_all()
            time.sleep(_PAUSE_SECONDS)

    def _await_ready(self) -> list[_WakeUp]:
        """Wait for wake-ups that were not sent just now, and take them."""
        while True:
            now = time.monotonic()
            self._sent = {key: at for key, at in self._sent.items() if at + _REPEAT_SECONDS > now}
            if ready := [key for key in self._waiting if key not in self._sent]:
                self._sent |= dict.fromkeys(ready, now)
                return [self._waiting.pop(key) for key in ready]
            ends = [self._sent[key] + _REPEAT_SECONDS for key in self._waiting]
            self._changed.wait(min(ends) - now if ends else None)


_sender = _Sender()


def _start_over() -> None:
    """Start over in a forked child: it has none of the parent's threads, and must send none of its
    wake-ups."""
    global _sender
    _sender = _Sender()


os.register_at_fork(after_in_child=_start_over)
atexit.register(flush)


def _send(name: str, arguments: dict[str, object], *, is_next: bool = False) -> None:
    _sender.add(name, arguments, is_next=is_next)


def _send_now(name: str, arguments: dict[str, object]) -> None:
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
