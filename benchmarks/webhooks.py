"""Webhook delivery from committed event to receipt, and what publishing costs the publisher."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from django.db import connection, transaction

from benchmarks import database, deliveries, processes, seeding
from benchmarks.deliveries import Receiver
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options
from benchmarks.peers import installation
from common import ids
from common.clock import utc_now
from tenants.models import Tenant
from webhooks.bodies import PaymentData
from webhooks.services import events

ENDPOINTS = 20
EVENTS_A_SECOND = 30
IN_FLIGHT = 64
PEER_SAMPLES = 5


def measure(options: Options) -> Section:
    """Draining, latency, publishing, and django-webhook. Raises CannotMeasure."""
    seeding.require_own_database()
    tenant = seeding.customer().tenant
    count = options.scaled(5_000, 500)
    with deliveries.receiver() as receiver:
        figures = list(_draining(tenant, receiver, count, options))
        figures += _latency(receiver, options)
        figures += _publishing(options)
        drained = [figure.values for figure in figures if figure.name == _RATE]
        figures += _peer(receiver, drained[0], count)
    database.empty(*deliveries.TABLES)
    text = _TEXT.format(
        count=count, endpoints=ENDPOINTS, rounds=options.pairs, events=_timed_events(options)
    )
    return Section("Webhooks", text, figures)


_RATE = "draining: deliveries/s, from start of the sender's work to the last result stored"
_TEXT = """{count:,} due events, {endpoints} endpoints on one fast local receiver, one
`dispatch_webhooks` process: claimed, signed, sent, results and attempts stored. The bare client is
one aiohttp session posting bytes of the same size, signed twice as ours are, and storing nothing;
on asyncio's own loop, and on uvloop, which our sender runs on, too. Latency: from after the commit
to the receiver, at 30 events/s, {rounds} rounds of {events}. Publishing: the CPU and waiting that
`publish_payment` adds to a transaction, one endpoint. django-webhook: its own task for each of as
many events, on a prefork worker of 4; its samples are the fifths of that one run."""


def _draining(tenant: Tenant, receiver: Receiver, count: int, options: Options) -> Iterator[Figure]:
    endpoints = [
        deliveries.endpoint(tenant, receiver.url(f"fast{number}")) for number in range(ENDPOINTS)
    ]
    sides: dict[str, Callable[[], tuple[float, float]]] = {
        "ours": lambda: _drain(endpoints, receiver, count),
        "bare aiohttp client": lambda: _bare(receiver, count, "asyncio"),
        "bare aiohttp client on uvloop": lambda: _bare(receiver, count, "uvloop"),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for number in range(options.pairs):
        for name in list(sides) if number % 2 == 0 else reversed(list(sides)):
            found[name].append(sides[name]())
        options.tell(f"draining: round {number + 1} of {options.pairs}")
    ours = found.pop("ours")
    rates = [rate for rate, _cpu in ours]
    for name, bare in found.items():
        of_bare = ratios(rates, [rate for rate, _cpu in bare])
        yield Figure(name=f"draining ÷ {name}", values=of_bare, aim=0.6)
    yield Figure(name=_RATE, values=rates)
    yield Figure(
        name="sender CPU per delivery",
        unit="ms",
        values=[cpu for _rate, cpu in ours],
        aim=0.25,
        at_most=True,
    )
    for name, bare in found.items():
        yield Figure(
            name=f"{name}: CPU per delivery", unit="ms", values=[cpu for _rate, cpu in bare]
        )


def _bare(receiver: Receiver, count: int, loop: str) -> tuple[float, float]:
    """Deliveries per second and CPU milliseconds of each."""
    command = [installation.python(), "-m", "benchmarks.bare_sender", receiver.url("fast")]
    done = subprocess.run(  # noqa: S603  # our own command, no shell
        [*command, str(count), str(IN_FLIGHT), loop],
        cwd=processes.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotMeasure(f"the bare client failed:\n{done.stderr[-500:]}")
    rate, cpu = map(float, done.stdout.split())
    return rate, cpu


def _drain(endpoints: list[Any], receiver: Receiver, count: int) -> tuple[float, float]:
    """The rate and CPU of a warm dispatcher, from the first arrival on."""
    database.empty(*deliveries.TABLES)
    with deliveries.dispatcher() as sender:
        deliveries.due(endpoints[0], 20)
        deliveries.await_settled(20, seconds=30)
        receiver.forget()
        cpu = sender.cpu_seconds()
        with transaction.atomic():  # all at once
            for row in endpoints:
                deliveries.due(row, count // len(endpoints))
            database.execute("ANALYZE webhooks_webhookdelivery")
        ended = deliveries.await_empty_queue(seconds=60)
        spent = sender.cpu_seconds() - cpu
        deliveries.await_settled(20 + count, seconds=1)
    arrivals = sorted(at for _path, at in receiver.arrivals())
    if len(arrivals) < count:
        raise CannotMeasure(f"{len(arrivals)} of {count} deliveries arrived")
    return count / (ended - arrivals[0]), spent / count * 1000


def _latency(receiver: Receiver, options: Options) -> list[Figure]:
    database.empty(*deliveries.TABLES)
    tenant = seeding.customer().tenant
    deliveries.endpoint(tenant, receiver.url("live"))
    waits: list[list[float]] = []
    with deliveries.dispatcher():
        _publish(tenant)
        deliveries.await_settled(1, seconds=30)
        for _ in range(options.pairs):
            waits.append(_waits(tenant, receiver, _timed_events(options)))
    return [
        Figure(
            name="commit to receipt, p50",
            unit="ms",
            values=[statistics.median(round_) for round_ in waits],
        ),
        Figure(
            name="commit to receipt, p99",
            unit="ms",
            values=[round_[int(len(round_) * 0.99)] for round_ in waits],
            aim=20,
            at_most=True,
        ),
    ]


def _timed_events(options: Options) -> int:
    """Of a round of latencies."""
    return options.scaled(200, 30)


def _waits(tenant: Tenant, receiver: Receiver, count: int) -> list[float]:
    """Milliseconds from commit to receipt of so many events, the shortest first."""
    receiver.forget()
    settled = database.scalar(deliveries.SETTLED)
    committed: list[float] = []
    for _ in range(count):
        _publish(tenant)
        committed.append(time.time())
        time.sleep(1 / EVENTS_A_SECOND)
    deliveries.await_settled(settled + count, seconds=30)
    arrivals = sorted(at for _path, at in receiver.arrivals())
    return sorted((at - done) * 1000 for done, at in zip(committed, arrivals, strict=True))


def _publish(tenant: Tenant) -> None:
    with transaction.atomic():
        events.publish_payment(
            tenant_id=tenant.pk,
            type="payment.completed",
            data=PaymentData(
                payment_id=ids.new("ftx"),
                amount=1,
                status="completed",
                direction="in",
                sequence=1,
                failure_code=None,
                return_code=None,
                network=None,
            ),
            now=utc_now(),
        )


def _publishing(options: Options) -> list[Figure]:
    """A transaction of one insert with and without the event."""
    tenant = seeding.customer().tenant
    deliveries.endpoint(tenant, "https://hooks.example.com/in")
    count = options.scaled(200, 20)

    def timed(act: Callable[[], None]) -> float:
        began = time.perf_counter()
        for _ in range(count):
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("INSERT INTO bench_thing VALUES (1)")
                act()
        return (time.perf_counter() - began) / count * 1000

    database.execute("CREATE TABLE IF NOT EXISTS bench_thing (id int)")
    added = []
    for _ in range(options.pairs):
        alone = timed(lambda: None)
        added.append(timed(lambda: _publish(tenant)) - alone)
    return [
        Figure(
            name="publishing adds to a transaction", unit="ms", values=added, aim=1, at_most=True
        )
    ]


def _peer(receiver: Receiver, ours: Sequence[float], count: int) -> list[Figure]:
    """django-webhook's own task for each of `count` events; `ours` are rates."""
    database.execute("DROP DATABASE IF EXISTS bench_peers WITH (FORCE)")
    database.execute("CREATE DATABASE bench_peers")
    from benchmarks import pgbench
    from config.env import broker_url

    environment = pgbench.address(superuser=True) | {
        "PEER_APPS": "django_webhook",
        "PEER_BROKER": broker_url(os.environ["REDIS_URL"]),
        "DJANGO_SETTINGS_MODULE": "benchmarks.peers.settings",
    }
    script = [installation.python(), "-m", "benchmarks.peers.webhook_peer"]
    worker = [
        installation.python(),
        "-m",
        "celery",
        "--quiet",
        "-A",
        "benchmarks.peers.webhook_peer",
    ]
    made = subprocess.run(  # noqa: S603  # our own command, no shell
        [*script, receiver.url("peer"), str(count)],
        cwd=processes.ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise CannotMeasure(f"django-webhook failed:\n{made.stderr[-500:]}")
    receiver.forget()
    options_of_worker = ["worker", "--concurrency=4", "--queues=bench_peers", "--loglevel=ERROR"]
    with processes.program(
        [*worker, *options_of_worker], name="webhook_peer", environment=environment
    ) as running:
        times = _await_arrivals(receiver, count, seconds=120)
        running.pids()
    rates = _rates(times, PEER_SAMPLES)
    middle = statistics.median(ours)
    return [
        Figure(name="draining ÷ django-webhook", values=[middle / rate for rate in rates], aim=40),
        Figure(name="django-webhook: deliveries/s", values=rates),
    ]


def _rates(times: Sequence[float], parts: int) -> list[float]:
    """Arrivals per second in each of so many parts with as many arrivals."""
    length = (len(times) - 1) // parts
    marks = [times[number * length] for number in range(parts + 1)]
    return [length / (end - start) for start, end in pairwise(marks)]


def _await_arrivals(receiver: Receiver, count: int, *, seconds: float) -> list[float]:
    end = time.monotonic() + seconds
    while len(found := receiver.arrivals()) < count:
        if time.monotonic() > end:
            raise CannotMeasure(f"{len(found)} of {count} deliveries of django-webhook arrived")
        time.sleep(0.1)
    return sorted(at for _path, at in found)
