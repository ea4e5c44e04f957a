"""The two ways to run a dispatcher: a process that stays, and a burst that ends."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any

import redis.asyncio
import structlog
import uvloop
from django.conf import settings
from redis import RedisError

from common.clock import utc_now
from common.database_clock import judged
from common.engine.database_thread import DatabaseThread
from common.engine.http import urls
from common.engine.http.client import Client
from webhooks import wake
from webhooks.dispatcher import heartbeats
from webhooks.dispatcher.loop import SLOTS, Dispatcher

log = structlog.get_logger(__name__)

BURST_SECONDS = 8.0
_RECONNECT_SECONDS = 1.0


def serve(*, slots: int = SLOTS) -> None:
    """Deliver until SIGTERM or SIGINT; then finish what is under way."""
    gc.freeze()  # the product's code need not be searched for garbage at each request
    _allow_sockets()
    _run(_serve(slots))


def _allow_sockets() -> None:
    """Raise the limit of open files to what this process may have. Each request takes a socket,
    which is then kept for a while; a request that got none would count as a failure of its
    endpoint."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def burst(*, name: str | None = None, seconds: float = BURST_SECONDS) -> None:
    """Deliver what is due for at most `seconds`, then wait for the requests that are under way."""
    _run(_burst(name, seconds))


def _run(main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main)


@judged
def burst_if_alone(*, now: datetime) -> bool:
    """Deliver in a burst if no dispatcher is alive. Returns whether it did."""
    heartbeats.forget_dead(now=now)
    if heartbeats.is_dispatcher_alive(now=now) or not heartbeats.take_burst(now=now):
        return False
    burst(name=heartbeats.BURST)
    return True


async def _serve(slots: int) -> None:
    stopping = asyncio.Event()
    name = f"{socket.gethostname()}:{os.getpid()}"
    async with _dispatcher(name, slots) as dispatcher:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, _stop, stopping, dispatcher)
        listener = asyncio.create_task(_listen(dispatcher.kick))
        log.info("dispatcher_started", name=name, slots=slots)
        await dispatcher.run(goes_on=lambda: not stopping.is_set())
        listener.cancel()
        with suppress(asyncio.CancelledError):
            await listener
        log.info("dispatcher_stopped", name=name)


def _stop(stopping: asyncio.Event, dispatcher: Dispatcher) -> None:
    stopping.set()
    dispatcher.kick()


async def _burst(name: str | None, seconds: float) -> None:
    end = time.monotonic() + seconds
    async with _dispatcher(name, SLOTS) as dispatcher:
        await dispatcher.run(goes_on=lambda: time.monotonic() < end, until_idle=True)


@asynccontextmanager
async def _dispatcher(
    name: str | None, slots: int, clock: Callable[[], datetime] = utc_now
) -> AsyncIterator[Dispatcher]:
    database = DatabaseThread()
    try:
        async with Client(urls.policy()) as client:
            yield Dispatcher(name=name, client=client, database=database, slots=slots, clock=clock)
    finally:
        await database.close()


async def _listen(kick: Callable[[], None]) -> None:
    """Listen for wake-ups. While Valkey is away the loop polls every second."""
    while True:
        try:
            client = redis.asyncio.Redis.from_url(settings.REDIS_URL)
            async with client, client.pubsub() as listener:
                await listener.subscribe(wake.channel(settings.REDIS_URL))
                async for _message in listener.listen():
                    kick()
        except (RedisError, OSError) as error:
            log.warning("wake_ups_unavailable", error=type(error).__name__)
        await asyncio.sleep(_RECONNECT_SECONDS)
