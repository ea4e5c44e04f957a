"""One baton: several transactions open at once, one process running, and the same again."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from random import Random

import pytest
from django.db import connection, transaction

from balance import services as ledger
from common import clock, ids
from simulation import seams
from simulation.control import Control
from simulation.processes import Job, Order, ProcessDied, State
from simulation.scheduler import Scheduler
from simulation.trace import Trace
from tests.balance.builders import balance_of, fund, movement
from tests.builders import NOW, make_tenant

pytestmark = pytest.mark.django_db(transaction=True)


class Stage:
    """A scheduler with two processes on the test's database."""

    def __init__(self, seed):
        time = seams.Time(NOW)
        parameters = {
            name: value
            for name, value in connection.get_connection_params().items()
            if name in {"dbname", "user", "password", "host", "port"}
        }
        self.time, self.told, self.trace = time, {}, Trace()
        self.control = Control(**parameters)
        self.control.prepare()
        self.chance = Random(seed)
        self.scheduler = Scheduler(self.control, self.chance, self.trace, self._advance)

    def _advance(self):
        self.time.now += timedelta(milliseconds=self.chance.randint(1, 50))

    def start(self, name, act):
        process = self.scheduler.start(name)
        job = Job(1, name, act, lambda outcome: self.told.update({name: outcome}))
        self.scheduler.give(process, job)
        return process

    def run_on(self):
        """Until nobody can go on."""
        while ready := self.scheduler.with_state(State.PARKED):
            self.scheduler.give(self.scheduler.choose(ready), Order.GO)


@contextmanager
def staged(seed="1"):
    stage = Stage(seed)
    with seams.installed(stage.time, seed=seed, wake_up=lambda name, arguments: None):
        try:
            yield stage
        finally:
            stage.scheduler.stop()
            stage.control.close()


def in_transaction(act):
    def run():
        with transaction.atomic():
            return act()

    return run


def step_to(stage, process, place):
    """Let `process` go on until it stands before the call that begins so."""
    while not process.place.startswith(place):
        stage.scheduler.give(process, Order.GO)


def test_a_call_that_waits_for_a_row_gives_the_baton_back(acme):
    fund(acme, 100)

    with staged() as stage:
        first = stage.start("first", in_transaction(lambda: ledger.lock(**movement(acme, 60))))
        step_to(stage, first, "COMMIT")
        second = stage.start("second", in_transaction(lambda: ledger.credit(**movement(acme, 5))))
        step_to(stage, second, "SELECT (posted)")
        stage.scheduler.give(second, Order.GO)

        assert (first.state, second.state) == (State.PARKED, State.BLOCKED)
        stage.scheduler.give(first, Order.GO)
        assert (first.state, second.state) == (State.IDLE, State.PARKED)
        assert second.place.endswith("(waited)")
        stage.run_on()

    assert balance_of(acme) == (45, 0, 60)
    assert stage.told["second"].sequence == stage.told["first"].sequence + 1


def history(seed):
    """Four postings of a new tenant, in whatever order the seed says; what happened."""
    tenant = make_tenant()
    fund(tenant, 1)
    with staged(seed) as stage:
        for number in range(4):
            order = movement(tenant, 10 + number)
            stage.start(f"p{number}", in_transaction(lambda order=order: ledger.credit(**order)))
        stage.run_on()
    return stage.trace.digest, {name: told.sequence for name, told in stage.told.items()}


def test_the_same_seed_gives_the_same_history(db):
    histories = [history(seed) for seed in ("1", "1", "2", "2", "3", "3")]

    assert histories[::2] == histories[1::2]
    assert len({digest for digest, _ in histories}) == 3


def test_who_dies_leaves_nothing_of_an_open_transaction_and_frees_its_row(acme):
    fund(acme, 100)

    with staged() as stage:
        first = stage.start("first", in_transaction(lambda: ledger.lock(**movement(acme, 60))))
        step_to(stage, first, "COMMIT")
        second = stage.start("second", in_transaction(lambda: ledger.credit(**movement(acme, 5))))
        step_to(stage, second, "SELECT (posted)")
        stage.scheduler.give(second, Order.GO)
        stage.scheduler.cut(first)
        stage.scheduler.give(first, Order.DIE)
        stage.run_on()

    assert isinstance(stage.told["first"], ProcessDied)
    assert balance_of(acme) == (105, 0, 0)


def test_two_that_wait_for_each_other_are_a_finding_and_one_is_ended(acme, rival):
    fund(acme, 1)
    fund(rival, 1)

    def rows(*tenants):
        for tenant in tenants:
            ledger.lock_row(tenant_id=tenant.pk)

    with staged() as stage:
        first = stage.start("first", in_transaction(lambda: rows(acme, rival)))
        second = stage.start("second", in_transaction(lambda: rows(rival, acme)))
        for process in (first, second, first, second, first, second):
            if process.state is State.PARKED:
                stage.scheduler.give(process, Order.GO)
        stage.run_on()

    (deadlock,) = stage.scheduler.deadlocks
    assert deadlock.victim == "second"
    assert stage.told["first"] is None
    assert "canceling statement" in str(stage.told["second"])


def test_a_process_sees_its_own_clock_and_draws_its_own_ids(acme):
    def look():
        return clock.utc_now(), ids.new("x")

    def seen():
        with staged("7") as stage:
            for name in ("first", "second"):
                stage.start(name, look)
        return stage.told

    told, again = seen(), seen()

    assert told == again
    assert told["first"][0] != told["second"][0]
    assert abs(told["first"][0] - NOW) < timedelta(seconds=5)
    assert told["first"][1] != told["second"][1]
