"""A simulated process of the service: a thread that runs only when the scheduler lets it.

It stops before each database call and each call of the network, and says where it is. The scheduler
decides which process goes on, and whether something breaks there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from queue import SimpleQueue
from random import Random
from typing import Any, NamedTuple, TypeVar

import psycopg
from django.db import connections

T = TypeVar("T")

_ON_THIS_THREAD = threading.local()


class State(StrEnum):
    """The state of a process. Only a `parked` or `idle` one can be told to go on."""

    IDLE = "idle"
    PARKED = "parked"
    RUNNING = "running"
    BLOCKED = "blocked"
    GONE = "gone"


class Order(StrEnum):
    """What the scheduler tells a parked process."""

    GO = "go"
    GO_AND_PARK = "go and park"  # park again behind the call, whatever becomes of it
    DIE = "die"
    LOSE_ANSWER = "lose answer"
    FAIL = "fail"  # of a call of the network


class CallKind(NamedTuple):
    """What a call may do to locks: wait for one, or free some. It need not do so."""

    may_wait: bool
    may_free: bool


NOTHING = CallKind(may_wait=False, may_free=False)


class ProcessDied(BaseException):
    """Raised to end a process. It is no Exception, so that no handler in the product can
    catch it."""


@dataclass
class Job:
    """One thing that a process does from beginning to end: a request, a sweep, a burst.

    `act` does it; `done` is called with its result, an exception, or a ProcessDied. `number` is its
    place in the plan. `is_faulted`: something was broken while it ran.
    """

    number: int
    name: str
    act: Callable[[], Any]
    done: Callable[[Any], None] = lambda _outcome: None
    is_faulted: bool = False
    calls: int = 0
    errors: list[str] = field(default_factory=list)


class Process:
    """`drift` is how far its clock is from the world's. `chance` is its own random numbers, so that
    they do not depend on which process runs first."""

    def __init__(
        self, name: str, *, drift: timedelta, chance: Random, arrivals: SimpleQueue[Arrival]
    ) -> None:
        self.name = name
        self.drift = drift
        self.chance = chance
        self.state = State.RUNNING
        self.place = ""
        self.job: Job | None = None
        self.backend: int | None = None
        self.was_blocked = False
        self.is_dead = False
        self.next_call = NOTHING
        self._arrivals = arrivals
        self._orders: SimpleQueue[Order | Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)

    def begin(self) -> None:
        """Start the thread. It arrives idle."""
        self._thread.start()

    def tell(self, order: Order | Job | None) -> None:
        """Let the process run. None ends an idle process."""
        self.state = State.RUNNING
        self._orders.put(order)

    def join(self) -> None:
        self._thread.join(timeout=30)

    def call(
        self, connection: psycopg.Connection[Any], kind: CallKind, place: str, act: Callable[[], T]
    ) -> T:
        """Make a database call of this process. The process can be stopped before and after it."""
        if self.is_dead:
            raise ProcessDied
        self.backend = _backend_of(connection)
        order = self._park(place, kind)
        try:
            return self._obeying(order, act)
        finally:
            if self.was_blocked and not self.is_dead:
                self.was_blocked = False
                self._park(f"{place} (waited)")

    def _obeying(self, order: Order, act: Callable[[], T]) -> T:
        if order is Order.DIE:
            self.die()
        result = act()
        if order is Order.GO_AND_PARK:
            match self._park(f"{self.place} (done)"):
                case Order.DIE:
                    self.die()
                case Order.LOSE_ANSWER:
                    raise psycopg.OperationalError("the connection is lost (simulated)")
        return result

    def pause(self, place: str) -> Order:
        """Stop before a call to the outside world; returns what is to become of the call."""
        if self.is_dead:
            raise ProcessDied
        order = self._park(place)
        if order is Order.DIE:
            self.die()
        return order

    def die(self) -> None:
        """End the process: it does nothing after this. Raises ProcessDied."""
        self.is_dead = True
        raise ProcessDied

    def _park(self, place: str, kind: CallKind = NOTHING) -> Order:
        self.next_call = kind
        order = self._wait(State.PARKED, place)
        if not isinstance(order, Order):
            raise TypeError(f"{self.name} is in the middle of something")
        if self.job is not None:
            self.job.calls += 1
        return order

    def _wait(self, state: State, place: str) -> Order | Job | None:
        """Report where the process is and wait for an order. Only the scheduler changes `state`,
        when it reads the report."""
        self._arrivals.put((self, state, place))
        return self._orders.get()

    def _live(self) -> None:
        become(self)
        while isinstance(job := self._wait(State.IDLE, "idle"), Job):
            self.job, self.next_call = job, NOTHING
            job.done(self._outcome(job))
            self.job, self.backend = None, None
            if self.is_dead:
                break
        disconnect()
        self._arrivals.put((self, State.GONE, "gone"))

    def _outcome(self, job: Job) -> Any:
        try:
            outcome = job.act()
        except (Exception, ProcessDied) as error:
            outcome = error
        # The death counts, whatever the product's code made of the exception on its way out.
        return ProcessDied() if self.is_dead else outcome


# Which process arrived, in which state, and where.
Arrival = tuple[Process, State, str]


def become(process: Process | None) -> None:
    """Make this thread act for `process` from now on."""
    _ON_THIS_THREAD.process = process


def current() -> Process | None:
    """The process that this thread acts for; None for the simulation itself."""
    return getattr(_ON_THIS_THREAD, "process", None)


def _backend_of(connection: psycopg.Connection[Any]) -> int | None:
    try:
        return connection.info.backend_pid
    except psycopg.OperationalError:
        return None


def disconnect() -> None:
    """Close what Django holds for this thread, however broken it is, without telling the
    scheduler."""
    for database in connections.all(initialized_only=True):
        if database.connection is not None:
            database.connection.close()
            database.connection = None
