"""Runs one seed from beginning to end: days of work with faults, nights, and a calm end to be
judged."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any
from unittest.mock import patch

from networks.rails.known import knowledge
from simulation import actors, oracles, rails, seams, world
from simulation.control import Control
from simulation.findings import Finding
from simulation.plans import Act, Plan
from simulation.processes import Job, Order, Process, State
from simulation.receivers import dispatch
from simulation.scheduler import DRIFT_MAX, Scheduler
from simulation.tally import Tally
from simulation.themes import (
    ESSENTIAL,
    READING,
    THEMES,
    TO_A_DEADLINE,
    TO_THE_END_OF_A_WAIT,
    Breakage,
    Role,
)
from simulation.trace import Trace
from simulation.world import BEGINNING, World
from webhooks.dispatcher import runs

_WORKERS, _DISPATCHERS = 4, 2
_STEP_MS = (1, 30)
_LEAP, _LEAP_SECONDS = 0.004, (1, 90)
_WAKE_UP_LOST, _WAKE_UP_TWICE = 0.2, 0.1
_ASK_AGAIN = 0.3
_EVENING = (timedelta(minutes=10), timedelta(minutes=15))
# Longer than any lease, delay, retry of a webhook, approval or wait for money.
_END = [*[timedelta(minutes=12)] * 3, *[timedelta(hours=hours) for hours in (2, 7, 25, 25, 60, 90)]]
_END_ROUNDS, _END_ROUNDS_MAX = 3, 9
# What is due by a fast clock is then also due by a slow one.
_BETWEEN_ROUNDS = 3 * DRIFT_MAX
_DAY = timedelta(days=1)
_BEFORE_A_DEADLINE = timedelta(seconds=4)


@dataclass(frozen=True)
class Outcome:
    """What came of a seed. Without findings, the product kept all its promises."""

    findings: list[Finding]
    digest: str
    tally: Tally
    trace: Trace


def live(plan: Plan, control: Control) -> Outcome:
    """Run `plan` on an emptied database and judge it."""
    control.forget_everything()
    history = _History(plan, control)
    with history.installed():
        history.live()
        findings = history.findings()
    return Outcome(findings, history.trace.digest, history.tally, history.trace)


def _burst(of: World, **_options: object) -> None:
    """Deliver webhooks in the sweep's own process, as the product does if no dispatcher
    is alive."""
    dispatch(of.receivers)


class _History:
    def __init__(self, plan: Plan, control: Control) -> None:
        self.plan = plan
        self.trace = Trace()
        self.tally = Tally(seeds=1)
        self._time = seams.Time(BEGINNING)
        self._chance = Random(f"schedule of {plan.seed}")
        self._theme = THEMES[plan.theme]
        self._scheduler = Scheduler(
            control, self._chance, self.trace, self._advance, self._theme.pace
        )
        self._breaks = {each.place: each.kind for each in plan.breaks}
        self._queues: dict[Role, deque[Act | Job]] = {role: deque() for role in Role}
        self._roles: dict[str, Role] = {}
        self._is_calm = False
        self._born = 0
        self._world: World

    @contextmanager
    def installed(self) -> Iterator[None]:
        knowledge.current()  # before a simulated process would read it
        with seams.installed(self._time, seed=self.plan.seed, wake_up=self._wake_up):
            self._world = world.make(self.plan, time=self._time, tally=self.tally)
            burst = partial(_burst, self._world)
            with rails.connected(self._world.bank), patch.object(runs, "burst", burst):
                yield

    def live(self) -> None:
        try:
            processes = {
                Role.WEB: self._theme.web_processes,
                Role.WORKER: _WORKERS,
                Role.DISPATCHER: _DISPATCHERS,
            }
            for role, count in processes.items():
                for _ in range(count):
                    self._start(role)
            for day, night in enumerate(self.plan.nights):
                self._work([act for act in self.plan.acts if act.day == day])
                self._evening()
                self._night(night)
            self._end()
        finally:
            self._scheduler.stop()
            self.tally.steps += self._scheduler.steps
            self.tally.days += self._time.now - BEGINNING

    def findings(self) -> list[Finding]:
        locks = [
            Finding("deadlock", deadlock.victim, " ⇄ ".join(deadlock.places))
            for deadlock in self._scheduler.deadlocks
        ]
        return locks + oracles.judge(self._world)

    def _work(self, acts: list[Act]) -> None:
        for act in acts:
            self._queues[act.role].append(act)
        while self._step():
            pass

    def _evening(self) -> None:
        """Let what the day began come to an end, while faults still happen."""
        reads = self._theme.reads_at_night
        for leap in _EVENING:
            self._pass(leap)
            self._sweep_once([name for name in ESSENTIAL if reads or name not in READING])

    def _end(self) -> None:
        """Break nothing any more, so that everything that was promised has to happen."""
        self._is_calm = True
        self._world.bank.is_calm = self._world.receivers.is_calm = True
        for leap in _END:
            self._pass(leap)
            self._sweep_once()
        for _ in range(_END_ROUNDS):
            self._pass(_BETWEEN_ROUNDS)
            self._sweep_once()
        quiet = 0
        for _ in range(_END_ROUNDS_MAX):
            has_news = self._world.bank.has_news()
            if quiet >= _END_ROUNDS and not has_news:
                break
            self._pass(_BETWEEN_ROUNDS)
            if has_news:  # of what was sent at the end
                self._sweep_once()
            quiet = 1 if has_news else quiet + 1
            self._queues[Role.DISPATCHER].append(actors.delivery(self._world, -1))
            self._work([])

    def _night(self, hours: int) -> None:
        """Let some hours pass, or the time until just before something ends, when the order of
        steps matters."""
        leap = timedelta(hours=hours)
        if hours == TO_A_DEADLINE:
            leap = self._until(world.next_deadline(after=self._time.now + _BEFORE_A_DEADLINE))
        elif hours == TO_THE_END_OF_A_WAIT:
            leap = self._until(world.next_end_of_a_wait(after=self._time.now + _BEFORE_A_DEADLINE))
        self._pass(leap)

    def _until(self, deadline: datetime | None) -> timedelta:
        return deadline - _BEFORE_A_DEADLINE - self._time.now if deadline else _DAY

    def _sweep_once(self, names: Iterable[str] = ESSENTIAL) -> None:
        for name in names:
            self._queues[Role.WORKER].append(actors.sweep(-1, name, {}))
        self._queues[Role.DISPATCHER].append(actors.delivery(self._world, -1))
        for intent in self._world.intents:
            if intent.is_open:
                self._queues[Role.WEB].append(actors.ask_again(self._world, intent))
        self._work([])

    def _step(self) -> bool:
        """Let one process go on or begin its next job. Returns False when all is done."""
        self._hear_wake_ups()
        scheduler = self._scheduler
        idle = [p for p in scheduler.with_state(State.IDLE) if self._queues[self._roles[p.name]]]
        candidates = scheduler.with_state(State.PARKED) + idle
        if not candidates:
            return False
        process = scheduler.choose(candidates)
        if process.state is State.IDLE:
            scheduler.give(process, self._next_job(process))
        else:
            self._go_on(process)
        if process.state is State.GONE:
            scheduler.processes.remove(process)
            self._start(self._roles[process.name])
        return True

    def _next_job(self, process: Process) -> Job:
        following = self._queues[self._roles[process.name]].popleft()
        job = following if isinstance(following, Job) else actors.job_of(self._world, following)
        self.tally.jobs[job.name] += 1
        done = job.done

        def judged(outcome: Any) -> None:
            done(outcome)
            oracles.judge_job(self._world, job, outcome)

        job.done = judged
        return job

    def _go_on(self, process: Process) -> None:
        job = process.job
        kind = self._breaks.get((job.number, job.calls)) if job is not None else None
        if kind is None or self._is_calm:
            self.tally.waits += process.place.endswith("(waited)")
            self._scheduler.give(process, Order.GO)
        else:
            self._break(process, kind)

    def _break(self, process: Process, kind: Breakage) -> None:
        """Break one call of `process`. A break after the call happens only if the call did not have
        to wait."""
        scheduler = self._scheduler
        if kind in {Breakage.CUT_AFTER, Breakage.LOST_ANSWER, Breakage.DEATH_AFTER}:
            scheduler.give(process, Order.GO_AND_PARK)
            if process.state is not State.PARKED or not process.place.endswith("(done)"):
                return
        self.tally.fault(kind.value)
        scheduler.cut(process)
        if kind is Breakage.LOST_ANSWER:
            scheduler.give(process, Order.LOSE_ANSWER)
        elif kind in {Breakage.DEATH_BEFORE, Breakage.DEATH_AFTER}:
            scheduler.give(process, Order.DIE)
        else:
            scheduler.give(process, Order.GO)

    def _start(self, role: Role) -> None:
        self._born += 1
        name = f"{role.value}-{self._born}"
        self._roles[name] = role
        self._scheduler.start(name)

    def _wake_up(self, name: str, arguments: dict[str, Any]) -> None:
        self._world.wake_ups.append((name, dict(arguments)))

    def _hear_wake_ups(self) -> None:
        """Queue the jobs of wake-ups. Some are lost and some come twice; a sweep does the work of
        lost ones."""
        heard, self._world.wake_ups = self._world.wake_ups, []
        if self._is_calm:
            return
        for name, arguments in heard:
            luck = self._chance.random()
            if luck < _WAKE_UP_LOST:
                self.tally.fault("wake-up lost")
                continue
            is_twice = luck > 1 - _WAKE_UP_TWICE
            for _ in range(1 + is_twice):
                self._queues[Role.WORKER].append(actors.sweep(-1, name, arguments))
        if self._chance.random() < _ASK_AGAIN / 10:
            self._ask_again()

    def _ask_again(self) -> None:
        """Let clients without an answer repeat their requests, even while the first one
        still runs."""
        waiting = [intent for intent in self._world.intents if intent.is_open]
        if waiting:
            intent = self._chance.choice(waiting)
            self._queues[Role.WEB].append(actors.ask_again(self._world, intent))

    def _advance(self) -> None:
        milliseconds = self._chance.randint(*_STEP_MS)
        self._time.now += timedelta(milliseconds=milliseconds)
        if not self._is_calm and self._chance.random() < _LEAP:
            self.tally.fault("process stood still")
            self._time.now += timedelta(seconds=self._chance.randint(*_LEAP_SECONDS))

    def _pass(self, time: timedelta) -> None:
        self._time.now += time
        self._world.bank.arrive()
