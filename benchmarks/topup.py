"""What one top-up costs, from its request to the last delivered webhook: alone and in a stream."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from celery import current_app

from benchmarks import counters, database, deliveries, seeding, stack, stream
from benchmarks.counters import Counts
from benchmarks.deliveries import Receiver
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options
from benchmarks.seeding import Customer
from benchmarks.stack import Stack
from benchmarks.stream import Stream
from common import audits
from common.audits import Scope

A_SECOND = 50
SAMPLES = 5
EVENTS = 3  # created, processing, completed
END_SECONDS = 30.0
_AIMS = MappingProxyType({"statements": 40, "commits": 6})


@dataclass(frozen=True)
class Sample:
    """What one top-up took: PostgreSQL's counts, and CPU milliseconds by layer."""

    counts: Counts
    cpu: Mapping[str, float]


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    tenants = options.scaled(1_000, 20, 10_000)
    with counters.counting(), deliveries.receiver() as receiver:
        customers = [_customer(receiver) for _ in range(tenants)]
        database.execute("VACUUM ANALYZE")
        figures = _alone(customers, receiver, options)
        figures += _streaming(customers, options)
        _require_sound(customers)
    text = _TEXT.format(tenants=tenants, a_second=A_SECOND)
    return Section("Topup", text, figures)


_TEXT = """One top-up by the API: accepted, handed to the sandbox bank, in transit, completed, its
three webhooks received and recorded. Web (2 processes of 4 threads), worker (2 processes), beat,
dispatcher, {tenants:,} tenants with an endpoint each. In a stream: {a_second} top-ups a second;
what the sweeps, heartbeats and logs of all processes take is in it. Alone: one top-up after the
other, each over before the next, without beat, the sweep that finds the bank's messages sent by
the bench; what the same processes take at rest is taken off. Statements: all that PostgreSQL runs,
BEGIN and COMMIT among them, the checks of foreign keys, and those inside functions. Commits: all
transactions, those that only read among them. After a checkpoint each page that changes is written
to the WAL whole, once; the other samples begin when most were."""


def _customer(receiver: Receiver) -> Customer:
    made = seeding.customer()
    deliveries.endpoint(made.tenant, receiver.url("fast"))
    return made


# --- Alone


def _alone(customers: Sequence[Customer], receiver: Receiver, options: Options) -> list[Figure]:
    count, rest = options.scaled(5, 1), options.scaled(counters.REST_SECONDS, 2)
    samples, written = [], []
    with stack.running(without="beat") as product:
        for customer in customers[:4]:
            _one(product, customer, receiver)
        time.sleep(rest)
        for number in range(options.scaled(3, 1)):
            mine = [customers[(number * count + n) % len(customers)] for n in range(count)]
            counters.forget()
            before, began = _moment(product), time.monotonic()
            for customer in mine:
                _one(product, customer, receiver)
            written.append(_wal_bytes(before) / count)
            time.sleep(rest)
            took = time.monotonic() - began
            samples.append(_difference(before, _moment(product)))
        _list("topup-alone", each=count)
        before = _moment(product)
        time.sleep(took)
        at_rest = _difference(before, _moment(product))
    net = [_each(_difference(at_rest, busy), count) for busy in samples]
    return [*_figures("alone", net), _wal("alone", written)]


def _one(product: Stack, customer: Customer, receiver: Receiver) -> None:
    """A top-up, followed to its end."""
    receiver.forget()
    stream.ask_once(product.port, customer)
    _await_arrivals(receiver, EVENTS - 1)
    current_app.send_task("funding.process_network_events", ignore_result=True)
    _await_arrivals(receiver, EVENTS)
    time.sleep(0.5)  # the result of the last delivery is recorded


def _await_arrivals(receiver: Receiver, count: int) -> None:
    end = time.monotonic() + END_SECONDS
    while len(receiver.arrivals()) < count:
        if time.monotonic() > end:
            raise CannotMeasure(f"{count} webhooks did not arrive in {END_SECONDS:.0f} s")
        time.sleep(0.02)


# --- In a stream


def _streaming(customers: Sequence[Customer], options: Options) -> list[Figure]:
    seconds = options.scaled(6, 2)  # whole ones: sweeps tick once a second
    with stack.running() as product:
        for customer in customers[:8]:  # until all processes have done their part once
            stream.ask_once(product.port, customer)
        stream.await_end(seconds=END_SECONDS)
        topups = Stream(product.port, customers, A_SECOND)
        with topups.running():
            time.sleep(options.scaled(8, 4))
            after = []
            for _ in range(options.scaled(SAMPLES, 1)):
                database.execute("CHECKPOINT")
                after.append(_window(product, topups, seconds))
            time.sleep(options.scaled(10, 0))
            counters.forget()
            began = topups.accepted
            usual = [_window(product, topups, seconds) for _ in range(options.scaled(SAMPLES, 1))]
            _list("topup-stream", each=topups.accepted - began)
        stream.await_end(seconds=END_SECONDS)
    for sample in usual:
        options.tell(f"in a stream: {sample.counts}")
    return [
        *_figures("in a stream", usual, aims=_AIMS),
        _wal("in a stream", [sample.counts.wal_bytes for sample in usual], aim=12),
        _wal("after a checkpoint", [sample.counts.wal_bytes for sample in after]),
        *_cpu("in a stream", usual),
    ]


def _window(product: Stack, topups: Stream, seconds: float) -> Sample:
    """What each top-up took in these seconds. Raises CannotMeasure where too few came, or where
    they pile up."""
    before, accepted, completed = _moment(product), topups.accepted, stream.completed()
    time.sleep(seconds)
    count = topups.accepted - accepted
    if stream.completed() - completed < 0.7 * count:
        raise CannotMeasure("the machine is too busy: top-ups pile up")
    if count < 0.8 * seconds * A_SECOND:
        raise CannotMeasure(f"{count} top-ups in {seconds:.0f} s, not {A_SECOND} a second")
    return _each(_difference(before, _moment(product)), count)


# --- Both


def _moment(product: Stack) -> Sample:
    return Sample(counters.counts(), product.cpu_seconds())


def _difference(earlier: Sample, later: Sample) -> Sample:
    cpu = {name: later.cpu[name] - spent for name, spent in earlier.cpu.items()}
    return Sample(later.counts - earlier.counts, cpu)


def _each(sample: Sample, count: int) -> Sample:
    cpu = {name: spent / count * 1000 for name, spent in sample.cpu.items()}
    return Sample(sample.counts.each(count), cpu)


def _figures(
    when: str, samples: Sequence[Sample], aims: Mapping[str, float] = MappingProxyType({})
) -> list[Figure]:
    counts = [sample.counts for sample in samples]
    return [
        Figure(
            name=f"statements, {when}",
            values=[each.statements for each in counts],
            aim=aims.get("statements"),
            at_most=True,
        ),
        Figure(name=f"sent by us, {when}", values=[each.sent for each in counts]),
        Figure(name=f"checks of foreign keys, {when}", values=[each.checks for each in counts]),
        Figure(
            name=f"commits, {when}",
            values=[each.commits for each in counts],
            aim=aims.get("commits"),
            at_most=True,
        ),
        Figure(name=f"flushes of the WAL, {when}", values=[each.fsyncs for each in counts]),
        Figure(name=f"rows inserted, {when}", values=[each.inserted for each in counts]),
        Figure(name=f"rows updated, {when}", values=[each.updated for each in counts]),
        Figure(
            name=f"updates that touch no index, {when}", values=[each.in_place for each in counts]
        ),
    ]


def _wal_bytes(since: Sample) -> float:
    return counters.counts().wal_bytes - since.counts.wal_bytes


def _wal(when: str, values: Sequence[float], aim: float | None = None) -> Figure:
    kilobytes = [value / 1024 for value in values]
    return Figure(name=f"WAL, {when}", unit="KB", values=kilobytes, aim=aim, at_most=True)


def _cpu(when: str, samples: Sequence[Sample]) -> list[Figure]:
    return [
        Figure(name=f"CPU of {name}, {when}", unit="ms", values=[s.cpu[name] for s in samples])
        for name in samples[0].cpu
    ]


def _require_sound(customers: Sequence[Customer]) -> None:
    """Raises CannotMeasure where the audit finds anything."""
    scope = Scope(full=True, tenant_ids=tuple(each.tenant.pk for each in customers))
    for check in audits.checks():
        for finding in check(scope):
            raise CannotMeasure(f"the audit found {finding}")


def _list(name: str, *, each: float) -> None:
    """Say in a file which statements one top-up makes."""
    counters.write_statements(Path(os.environ["BALLAST_RUN_DIR"]) / f"{name}.txt", each=each)
