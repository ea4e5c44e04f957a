"""The dispatcher's loop: record the results, claim what is due, send it, rest when there is
nothing.

Requests run side by side on the event loop. One coroutine goes round and is the only one that uses
the database. No transaction and no connection is held while a request runs.

Each round records at most half of what is under way and claims about as much, so that the event
loop and the database both have work: one half is sent while the other is recorded and claimed anew.

Where little is due, results wait a moment for others: a batch is a transaction, however small
(decision 0125).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError

from common import drift
from common.clock import utc_now
from common.engine.database_thread import DatabaseThread
from common.engine.http.client import TOTAL_SECONDS, Client, Failure
from webhooks import metrics
from webhooks.dispatcher import claims, heartbeats, outcomes, results, sender
from webhooks.dispatcher.claims import IN_FLIGHT_PER_ENDPOINT, RETRY_FROM_FAILURES, Claim, Job
from webhooks.dispatcher.results import Result

log = structlog.get_logger(__name__)

# An endpoint that hangs holds ten slots for 15 s at a time. There must be enough others for the
# database to record and claim in large batches.
SLOTS = 512
_CLAIM_MAX = 128
POLL_SECONDS = 1.0
# Even a small batch costs the database two milliseconds, so fewer results than this are not
# divided.
_BATCH_MIN = 64
# How long a result may wait for others.
LINGER_SECONDS = 0.05
_random = random.SystemRandom()
_FINISH_SECONDS = TOTAL_SECONDS + 1
_DATABASE_AWAY_SECONDS = 1.0


def _claim(**values: Any) -> Claim:
    """Claim what is due, but nothing while our clock is wrong."""
    if drift.guard.is_adrift():
        return Claim(jobs=[], resume_after="", parked=0)
    with metrics.CLAIM.time():
        return claims.claim(**values)


def _beat(**values: Any) -> None:
    """Refresh the heartbeat, but not while our clock is wrong: then the sweep delivers."""
    if not drift.guard.is_adrift():
        heartbeats.beat(**values)


class Dispatcher:
    """Delivers what is due. `name` is for the heartbeat; with None there is none."""

    def __init__(
        self,
        *,
        name: str | None,
        client: Client,
        database: DatabaseThread,
        slots: int = SLOTS,
        linger: float = LINGER_SECONDS,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._name = name
        self._client = client
        self._database = database
        self._slots = slots
        self._linger_seconds = linger
        self._clock = clock
        self._running: dict[asyncio.Task[Result | None], Job] = {}
        self._broken: list[Job] = []  # on our side: to be given back
        self._finished: list[Result] = []
        self._held: Counter[str] = Counter()  # by endpoint: under way, or not recorded yet
        self._is_quiet = False  # the last claim took all that was due
        self._is_pressing = False  # results are to be recorded now
        self._linger: asyncio.TimerHandle | None = None
        self._is_behind = False  # the last batch could not be recorded
        self._resume_after = ""
        self._next_beat = 0.0
        self._kicked = asyncio.Event()

    def kick(self) -> None:
        """End the rest, because something is due or it is time to stop."""
        self._kicked.set()

    async def run(self, *, goes_on: Callable[[], bool], until_idle: bool = False) -> None:
        """Deliver while `goes_on` returns True; with `until_idle`, only until nothing is due.

        At the end it waits for the requests under way and records them.
        """
        while goes_on():
            if await self._survive(self._turn):
                continue
            if until_idle and not (self._running or self._finished):
                break
            await self._rest()
        await self._finish()

    async def _turn(self) -> bool:
        """Record, claim and start to send. Returns whether the next round should follow at once."""
        self._kicked.clear()
        await self._beat()
        await self._give_back()
        batch = self._next_batch()
        # Both are begun at once, so that the database need not wait for the event loop in between.
        # It runs them in this order, because recording makes room for claims. While a batch cannot
        # be recorded nothing is claimed: leases would end, and everything would be sent again and
        # again.
        recording = self._begin_record(batch)
        claiming = None if self._is_behind else self._begin_claim()
        try:
            await self._note(batch, recording)
        finally:
            goes_on = await self._start_claimed(claiming)
        # The last: nothing could be claimed, but what was recorded has made room.
        return goes_on or self._is_pressing or (claiming is None and bool(batch))

    async def _rest(self) -> None:
        try:
            await asyncio.wait_for(self._kicked.wait(), POLL_SECONDS)
        except TimeoutError:
            return

    async def _survive(self, step: Callable[[], Awaitable[bool]]) -> bool:
        """Run one step. If the database is away, wait and say that there is more to do; results are
        kept."""
        try:
            return await step()
        except (OperationalError, InterfaceError) as error:
            log.warning("database_unavailable", error=str(error).strip())
            await self._database.forget_connection()
            await asyncio.sleep(_DATABASE_AWAY_SECONDS)
            return True

    async def _finish(self) -> None:
        """Wait for what is under way and record it. What cannot be recorded will be sent again."""
        end = time.monotonic() + _FINISH_SECONDS
        if self._running:
            await asyncio.wait(self._running, timeout=_FINISH_SECONDS)
        for task in self._running:
            task.cancel()
        await self._survive(self._record)
        with suppress(OperationalError, InterfaceError):
            await self._give_back()
        while self._finished and time.monotonic() < end:
            await self._survive(self._record)
        if self._finished:
            log.error("results_lost", count=len(self._finished))
        if self._name is not None:
            with suppress(OperationalError, InterfaceError):
                await self._database.run(heartbeats.stop, name=self._name)

    async def _beat(self) -> None:
        if self._name is not None and time.monotonic() >= self._next_beat:
            await self._database.run(_beat, name=self._name, now=self._clock())
            self._next_beat = time.monotonic() + heartbeats.INTERVAL.total_seconds()

    async def _record(self) -> bool:
        batch = list(self._finished)
        await self._note(batch, self._begin_record(batch))
        return bool(batch)

    def _next_batch(self) -> list[Result]:
        """The results to record now, none while they wait for others. After a batch that could not
        be recorded these are all of them: their leases may have ended, and the next step is a
        claim."""
        if self._is_behind:
            return list(self._finished)
        if not self._is_pressing:
            return []
        half = (len(self._running) + len(self._finished)) // 2
        batch = self._finished[: max(half, _BATCH_MIN)]
        self._is_pressing = len(batch) < len(self._finished)
        return batch

    def _begin_record(self, batch: Sequence[Result]) -> asyncio.Future[set[str]] | None:
        return self._database.run(results.record, batch, now=self._clock()) if batch else None

    async def _note(
        self, batch: Sequence[Result], recording: asyncio.Future[set[str]] | None
    ) -> None:
        """Wait until `batch` is recorded, and count it."""
        if recording is None:
            return
        self._is_behind = True
        counted = await recording
        del self._finished[: len(batch)]
        self._let_go(result.job for result in batch)
        self._is_behind = False
        metrics.count(batch, recorded=counted)

    def _begin_claim(self) -> asyncio.Future[Claim] | None:
        free = self._slots - len(self._running)
        if free <= 0:
            return None
        retries = sum(job.failures >= RETRY_FROM_FAILURES for job in self._running.values())
        return self._database.run(
            _claim,
            slots=min(free, _CLAIM_MAX),
            retry_slots=max(0, self._slots // 2 - retries),
            after=self._resume_after,
            now=self._clock(),
        )

    async def _start_claimed(self, claiming: asyncio.Future[Claim] | None) -> bool:
        """Start to send what was claimed. Returns whether more may be due."""
        if claiming is None:
            return False
        claimed = await claiming
        started_after, self._resume_after = self._resume_after, claimed.resume_after
        # Where there is room for a whole claim, so few jobs are all that was due, but for endpoints
        # that had as much in flight as they may have.
        is_small = len(claimed.jobs) < IN_FLIGHT_PER_ENDPOINT
        self._is_quiet = is_small and self._slots - len(self._running) >= _CLAIM_MAX
        for job in claimed.jobs:
            self._start(job)
        is_more = claimed.parked or claimed.resume_after or started_after
        return bool(is_more or (claimed.jobs and not self._is_quiet))

    def _start(self, job: Job) -> None:
        task = asyncio.create_task(self._try(job))
        self._running[task] = job
        self._held[job.endpoint_id] += 1
        task.add_done_callback(self._take)
        metrics.IN_FLIGHT.inc()

    def _take(self, task: asyncio.Task[Result | None]) -> None:
        job = self._running.pop(task)
        metrics.IN_FLIGHT.dec()
        if not task.cancelled():
            result = task.result()
            if result is None:
                self._broken.append(job)
                self._let_go([job])
                self.kick()
            else:
                self._finished.append(result)
                self._note_finish(job)

    def _note_finish(self, job: Job) -> None:
        """Have the results recorded: at once if many are due or the endpoint has as much in flight
        as it may have, else in a moment."""
        if (
            not self._is_quiet
            or len(self._finished) >= _BATCH_MIN
            or self._held[job.endpoint_id] >= IN_FLIGHT_PER_ENDPOINT
        ):
            self._press()
        elif self._linger is None:
            self._linger = asyncio.get_running_loop().call_later(self._linger_seconds, self._press)

    def _press(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        self._is_pressing = True
        self.kick()

    def _let_go(self, jobs: Iterable[Job]) -> None:
        """Count what their endpoints have in flight without them."""
        for job in jobs:
            self._held[job.endpoint_id] -= 1
            if not self._held[job.endpoint_id]:
                del self._held[job.endpoint_id]

    async def _give_back(self) -> None:
        """Give back the tries that broke on our side (a missing key, a bug). They are no failure of
        the receiver."""
        if broken := list(self._broken):
            await self._database.run(results.give_back, broken, now=self._clock())
            del self._broken[: len(broken)]
            metrics.OWN_ERRORS.inc(len(broken))

    async def _try(self, job: Job) -> Result | None:
        """Make one try. Returns None if it broke on our side."""
        started_at = self._clock()
        try:
            answer = await sender.send(self._client, job, now=started_at)
        except Exception:
            log.exception("delivery_broke", delivery_id=job.delivery_id)
            return None
        if answer.failure == Failure.INTERNAL_ERROR:
            log.error("delivery_broke", delivery_id=job.delivery_id)
            return None
        jitter = 0.0 if answer.is_success else _random.random()
        outcome = outcomes.judge(answer, failures=job.failures, jitter=jitter, now=self._clock())
        return Result(job=job, answer=answer, outcome=outcome, started_at=started_at)
