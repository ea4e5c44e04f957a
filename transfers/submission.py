"""Handing rows to their networks: claim (`claims`), call and record (`batches`), batch by batch."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic

import structlog

from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from networks import registry
from networks.base import Capabilities
from transfers import batches, claims
from transfers.batches import OURS, RETRY_AFTER, Batch
from transfers.contract import Row, Transfer

__all__ = ["LEASE", "RETRY_AFTER", "RUN_MAX", "run", "submit_due"]

log = structlog.get_logger(__name__)

# After this many rows, or seconds, a run makes room for other work; the next one goes on.
RUN_MAX = 1_000
RUN_SECONDS_MAX = 5

_UNKNOWN = Capabilities(methods={})
# How long a claim holds the rows of a network that gives up a call as early as most.
LEASE = OURS + _UNKNOWN.answers_within


@judged
def submit_due(
    transfer: Transfer[Row], *, now: datetime, limit: int = RUN_MAX, only: str | None = None
) -> int:
    """Submit up to `limit` rows that are due; returns how many were claimed. `only`: no other row
    than that of this id."""
    sweep = _Run(transfer, now, limit)
    if only is None:
        claims.unpark(transfer)
        sweep.go()
    else:
        sweep.take_one(only)
    return sweep.claimed


@by(WORKER)
@judged
def run(transfer: Transfer[Row], *, now: datetime, wake: Callable[[], object]) -> None:
    """Submit what is due, as much as one run takes.

    `wake` is called once, as soon as it is known that there may be more than one run takes: before
    the first batch if many parked rows were given back, otherwise after the first full one. So
    another worker begins while this one goes on. As each run wakes one, every idle worker is at it
    after a few batches, and no more than one run waits per wake-up.
    """
    sweep = _Run(transfer, now, RUN_MAX, wake)
    if claims.unpark(transfer) >= claims.UNPARK_MAX:
        sweep.note_more()
    sweep.go()


@dataclass
class _Run(Generic[Row]):
    """One run of the sweep, of `limit` rows at most."""

    transfer: Transfer[Row]
    now: datetime
    limit: int
    wake: Callable[[], object] = lambda: None
    claimed: int = 0
    _is_more: bool = False

    def __post_init__(self) -> None:
        self._begun = time.monotonic()

    def note_more(self) -> None:
        """Wake another, if none was woken before."""
        if not self._is_more:
            self._is_more = True
            self.wake()

    def go(self) -> None:
        """A batch of each network in turn, so that none waits for the backlog of another."""
        waiting = deque(claims.networks(self.transfer))
        while waiting and self.limit > 0 and self._seconds() < RUN_SECONDS_MAX:
            name = waiting.popleft()
            if self._batch(name):
                waiting.append(name)
                self.note_more()
        if waiting:
            self.note_more()

    def take_one(self, pk: str) -> None:
        """Only this row."""
        found = self.transfer.due().filter(pk=pk).values_list("network", flat=True)
        for name in found:
            self._batch(name, only=pk)

    def _batch(self, name: str, only: str | None = None) -> bool:
        """Claim what fits one call to the network, for as long as that may last, and submit it.
        Returns whether there may be more for it; a silent network is asked once a run."""
        network = registry.find(name)
        terms = network.capabilities if network else _UNKNOWN
        begun = time.monotonic()
        claim = claims.claim(
            self.transfer,
            now=self.now,
            limit=min(self.limit, terms.together),
            # `now` is the run's: a batch that is claimed late is leased for as long as the first.
            lease=OURS + terms.answers_within + timedelta(seconds=int(self._seconds())),
            network=name,
            only=only,
        )
        self.limit -= claim.taken
        self.claimed += len(claim.rows)
        is_silent = bool(claim.rows) and not self._submit(name, claim.rows, begun)
        return claim.is_full and not is_silent

    def _submit(self, name: str, rows: list[Row], begun: float) -> bool:
        """Returns whether the network answered."""
        try:
            return Batch(self.transfer, registry.get(name), rows, self.now, begun).submit()
        except Exception:  # a bug: a person must look, other networks must not wait
            ids = [row.pk for row in rows]
            log.exception("submission_failed", network=name, instruction_ids=ids)
            batches.put_off(rows, self.now)
        return False

    def _seconds(self) -> float:
        return time.monotonic() - self._begun
