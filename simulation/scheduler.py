"""Lets exactly one process run at a time; the seed says which.

A call that waits for a lock keeps its transaction open while others run, so several are open at
once. What happens next depends on whether a process arrived or waits, never on how long that took.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, SimpleQueue
from random import Random

from simulation.control import Control
from simulation.processes import Arrival, CallKind, Job, Order, Process, State
from simulation.trace import Trace

# After how long we ask PostgreSQL whether a call waits, for calls that may wait and for others. No
# decision depends on these times.
PATIENCE_SECONDS, LONG_PATIENCE_SECONDS = 0.004, 0.25
_ANYTHING = CallKind(may_wait=True, may_free=True)
_STUCK_AFTER = 15_000  # looks, a minute: something waits for what is none of ours
# For each backend, those that it waits for.
Waits = Mapping[int, Sequence[int]]

DRIFT_MAX = timedelta(seconds=3)


class Stuck(Exception):
    """The simulation cannot go on, because of a bug of its own or a lock that nobody will free."""


@dataclass
class Deadlock:
    """Processes that waited for each other. The call of `victim` closed the circle."""

    victim: str
    places: tuple[str, ...]


@dataclass(frozen=True)
class Pace:
    """How fast processes go on. Every `steps` steps each draws one of `weights` anew. While it does
    one of the `slow` jobs, its weight is multiplied by `slowness`."""

    weights: tuple[float, ...] = (1.0, 1.0, 1.0, 4.0, 0.02)  # the last one hardly gets on
    steps: int = 30
    slow: frozenset[str] = frozenset()
    slowness: float = 1.0

    def share(self, weight: float, job: Job | None) -> float:
        """The weight of a process that does `job`."""
        return weight * self.slowness if job is not None and job.name in self.slow else weight


class Scheduler:
    """Decides which process goes on. `advance` moves the world's clock by the time of a step."""

    def __init__(
        self,
        control: Control,
        chance: Random,
        trace: Trace,
        advance: Callable[[], None],
        pace: Pace | None = None,
    ) -> None:
        self.processes: list[Process] = []
        self.deadlocks: list[Deadlock] = []
        self.steps = 0
        self._control = control
        self._chance = chance
        self._trace = trace
        self._advance = advance
        self._pace = pace or Pace()
        self._arrivals: SimpleQueue[Arrival] = SimpleQueue()
        self._weights: dict[str, float] = {}

    def start(self, name: str) -> Process:
        """Start a new process. It waits for its first job."""
        drift = timedelta(seconds=self._chance.uniform(-1, 1) * DRIFT_MAX.total_seconds())
        process = Process(
            name,
            drift=drift,
            chance=Random(f"{name}:{self._chance.random()}"),
            arrivals=self._arrivals,
        )
        self.processes.append(process)
        process.begin()
        self._settle()
        return process

    def with_state(self, *states: State) -> list[Process]:
        return [process for process in self.processes if process.state in states]

    def choose(self, among: list[Process]) -> Process:
        """Choose the process that goes on. Weights change now and then, so that some stand still
        for long."""
        if self.steps % self._pace.steps == 0 or not self._weights:
            drawn = self._pace.weights
            self._weights = {p.name: self._chance.choice(drawn) for p in self.processes}
        weights = [self._pace.share(self._weights.get(p.name, 1.0), p.job) for p in among]
        (chosen,) = self._chance.choices(among, weights)
        return chosen

    def give(self, process: Process, order: Order | Job) -> None:
        """Let `process` run to its next place."""
        self.steps += 1
        self._advance()
        what = order.name if isinstance(order, Job) else order.value
        self._trace.note(process.name, process.place, what)
        call = process.next_call
        process.tell(order)
        self._settle(call)

    def cut(self, process: Process) -> None:
        """End the connection of `process`, and with it its transaction."""
        if process.job is not None:
            process.job.is_faulted = True
        if process.backend is not None:
            self._control.terminate(process.backend)
        self._trace.note(process.name, process.place, "connection cut")
        self._settle()

    def stop(self) -> None:
        """End every process, wherever it is."""
        while busy := self.with_state(State.PARKED):
            for process in busy:
                self.cut(process)
                process.tell(Order.DIE)
                self._settle()
        for process in self.with_state(State.IDLE):
            process.tell(None)
            self._settle()
        for process in self.processes:
            process.join()
        self.processes.clear()

    def _settle(self, call: CallKind = _ANYTHING) -> None:
        """Wait until every process has stopped: at a place of its own, or behind a lock. `call` is
        what runs.

        Processes that the call has freed go on one after the other, so that they do not race.
        """
        self._until_nobody_runs(PATIENCE_SECONDS if call.may_wait else LONG_PATIENCE_SECONDS)
        while call.may_free and (freed := self._freed()):
            process = self._chance.choice(freed)
            process.state = State.RUNNING
            self._control.thaw(process.backend)
            self._until_nobody_runs(PATIENCE_SECONDS)

    def _freed(self) -> list[Process]:
        blocked = self.with_state(State.BLOCKED)
        waits = self._waits(blocked) if blocked else {}
        return [process for process in blocked if not waits.get(process.backend or 0)]

    def _waits(self, processes: list[Process]) -> Waits:
        return self._control.waits([p.backend for p in processes if p.backend is not None])

    def _until_nobody_runs(self, patience: float) -> None:
        """Wait until no process runs. Those that wait for a lock are frozen, so that the scheduler
        decides when they go on."""
        for _ in range(_STUCK_AFTER):
            self._take_arrivals(patience)
            running = self.with_state(State.RUNNING)
            if not running:
                return
            waiting = running + self.with_state(State.BLOCKED)
            waits = self._waits(waiting)
            are_waiting = all(waits.get(process.backend or 0) for process in running)
            if not are_waiting or not self._arrivals.empty():
                continue
            if not self._break_deadlock(running[0], _cycle(waiting, waits)):
                for process in running:
                    process.state, process.was_blocked = State.BLOCKED, True
                    self._control.freeze(process.backend)
                return
        raise Stuck(", ".join(f"{p.name} {p.state} at {p.place}" for p in self.processes))

    def _take_arrivals(self, patience: float) -> None:
        while self.with_state(State.RUNNING) or not self._arrivals.empty():
            try:
                process, state, place = self._arrivals.get(timeout=patience)
            except Empty:
                return
            process.state, process.place = state, place

    def _break_deadlock(self, victim: Process, cycle: list[Process]) -> bool:
        """Cancel the call that closed a circle of waiting processes, if there is one; returns
        whether there was. PostgreSQL's own detection is off, because its victim would depend on
        time."""
        if victim not in cycle or victim.backend is None:
            return False
        places = tuple(f"{process.name}: {process.place}" for process in cycle)
        self.deadlocks.append(Deadlock(victim.name, places))
        self._trace.note(victim.name, victim.place, "deadlock")
        if victim.job is not None:
            victim.job.is_faulted = True
        self._control.cancel(victim.backend)
        return True


def _cycle(waiting: list[Process], waits: Waits) -> list[Process]:
    """Processes that wait for each other; empty if there are none."""
    of_backend = {process.backend: process for process in waiting}
    for start in sorted(waiting, key=lambda process: process.name):
        path: list[Process] = []
        process: Process | None = start
        while process is not None and process not in path:
            path.append(process)
            blockers = [of_backend.get(pid) for pid in waits.get(process.backend or 0, ())]
            process = next((blocker for blocker in blockers if blocker is not None), None)
        if process is not None:
            return path[path.index(process) :]
    return []
