"""The tenants' servers, and the dispatcher that delivers to them by the product's own loop.

The loop's database thread is replaced by one that belongs to the simulated process while the loop
stands still. So a delivery can be stopped before each of its calls, like everything else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any, ParamSpec, TypeVar

from common.clock import utc_now
from common.engine.http.client import Answer, Failure
from simulation.processes import Process, become, current, disconnect
from simulation.seams import Time
from simulation.tally import Tally
from webhooks.dispatcher.loop import Dispatcher

P = ParamSpec("P")
T = TypeVar("T")

_REFUSED, _NEVER_ARRIVED, _ANSWER_LOST, _BUSY = 0.10, 0.08, 0.08, 0.04


@dataclass(frozen=True)
class Arrival:
    """A request that came in. `was_told`: the dispatcher got the answer that it was accepted."""

    event_id: str
    body: bytes
    was_told: bool
    at: datetime


class Receivers:
    """The endpoints of all tenants. `is_calm`: every request is accepted and answered."""

    def __init__(self, *, seed: str, time: Time, tally: Tally) -> None:
        self.arrivals: list[Arrival] = []
        self.is_calm = False
        self._seed = seed
        self._time = time
        self._tally = tally

    async def post(
        self, url: str, *, body: bytes, headers: Mapping[str, str], allow_http: bool
    ) -> Answer:
        """Answer like the product's HTTP client. The whole thread stands still meanwhile."""
        process = current()
        if process is not None:
            process.pause(f"receiver: {url}")
        event_id = headers["webhook-id"]
        attempt = headers["X-Webhook-Attempt"]
        luck = 1.0 if self.is_calm else Random(f"{self._seed}:{event_id}:{attempt}").random()
        return self._answer(event_id, body, luck)

    def _answer(self, event_id: str, body: bytes, luck: float) -> Answer:
        if luck < _REFUSED:
            self._tally.fault("webhook refused")
            return Answer(status=500)
        if (luck := luck - _REFUSED) < _NEVER_ARRIVED:
            self._tally.fault("webhook lost")
            return Answer(failure=Failure.CONNECTION_FAILED)
        if (luck := luck - _NEVER_ARRIVED) < _BUSY:
            self._tally.fault("webhook receiver busy")
            return Answer(status=503, retry_after="120")
        was_told = luck - _BUSY >= _ANSWER_LOST
        self.arrivals.append(Arrival(event_id, body, was_told, self._time.now))
        if was_told:
            return Answer(status=200)
        self._tally.fault("webhook answer lost")
        return Answer(failure=Failure.TIMEOUT)


class _OneThread:
    """Like `common.engine.database_thread.DatabaseThread`, but the loop waits for it."""

    def __init__(self, process: Process | None) -> None:
        self._thread = ThreadPoolExecutor(1, initializer=become, initargs=(process,))

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        begun = self._thread.submit(work, *args, **kwargs)
        if (error := begun.exception()) is None:
            done.set_result(begun.result())
        elif isinstance(error, Exception):
            done.set_exception(error)
        else:
            raise error  # the process has died
        return done

    async def forget_connection(self) -> None:
        self._thread.submit(disconnect).result()

    def close(self) -> None:
        self._thread.submit(disconnect).result()
        self._thread.shutdown()


def dispatch(receivers: Receivers) -> None:
    """Deliver what is due, by a dispatcher that ends when nothing is due."""
    database: Any = _OneThread(current())
    client: Any = receivers
    try:
        dispatcher = Dispatcher(name=None, client=client, database=database, clock=utc_now)
        asyncio.run(dispatcher.run(goes_on=lambda: True, until_idle=True))
    finally:
        database.close()
