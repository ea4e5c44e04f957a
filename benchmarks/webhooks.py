"""Webhook delivery from committed event to receipt, and what publishing costs the publisher."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable
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
PEER_EVENTS = 150


def measure(options: Options) -> Section:
    """Draining, latency, publishing, and django-webhook. Raises CannotMeasure."""
    seeding.require_own_database()
    tenant = seeding.customer().tenant
    count = options.scaled(5_000, 500)
    with deliveries.receiver() as receiver:
        figures = _draining(tenant, receiver, count, options)
        figures += _latency(receiver, options)
        figures += _publishing(options)
        drained = [figure.middle for figure in figures if figure.name == _RATE]
        figures += _peer(receiver, drained[0], options)
    database.empty(*deliveries.TABLES)
    return Section("Webhooks", _TEXT.format(count=count, endpoints=ENDPOINTS), figures)


_RATE = "draining: deliveries/s, from start of the sender's work to the last result stored"
_TEXT = """{count:,} due events, {endpoints} endpoints on one fast local receiver, one
`dispatch_webhooks` process: claimed, signed, sent, results and attempts stored. The bare client is
one aiohttp session posting bytes of the same size, signed twice as ours are, and storing nothing.
Latency: from after the commit to the receiver, at 30 events/s. Publishing: the CPU and waiting that
`publish_payment` adds to a transaction, one endpoint. django-webhook: its own task on a prefork
worker of 4."""


def _draining(tenant: Tenant, receiver: Receiver, count: int, options: Options) -> list[Figure]:
    endpoints = [
        deliveries.endpoint(tenant, receiver.url(f"fast{number}")) for number in range(ENDPOINTS)
    ]
    ours: list[float] = []
    bare: list[float] = []
    cpu: list[float] = []
    for _ in range(min(options.pairs, 5)):
        rate, spent = _bare(receiver, count)
        bare.append(rate)
        rate, spent = _drain(endpoints, receiver, count)
        ours.append(rate)
        cpu.append(spent)
        options.tell(f"draining: {ours[-1]:.0f}/s against {bare[-1]:.0f}/s")
    return [
        Figure(name="draining ÷ bare aiohttp client", values=ratios(ours, bare), aim=0.6),
        Figure(name=_RATE, values=ours),
        Figure(name="sender CPU per delivery", unit="ms", values=cpu, aim=0.25, at_most=True),
    ]


def _bare(receiver: Receiver, count: int) -> tuple[float, float]:
    """Deliveries per second and CPU milliseconds of each."""
    command = [installation.python(), "-m", "benchmarks.bare_sender", receiver.url("fast")]
    done = subprocess.run(  # noqa: S603  # our own command, no shell
        [*command, str(count), str(IN_FLIGHT)],
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
    count = options.scaled(300, 30)
    committed: list[float] = []
    with deliveries.dispatcher():
        _publish(tenant)
        deliveries.await_settled(1, seconds=30)
        receiver.forget()
        for _ in range(count):
            _publish(tenant)
            committed.append(time.time())
            time.sleep(1 / EVENTS_A_SECOND)
        deliveries.await_settled(count + 1, seconds=30)
    arrivals = sorted(at for _path, at in receiver.arrivals())
    waits = sorted((at - done) * 1000 for done, at in zip(committed, arrivals, strict=True))
    return [
        Figure(name="commit to receipt, p50", unit="ms", values=[statistics.median(waits)]),
        Figure(
            name="commit to receipt, p99",
            unit="ms",
            values=[waits[int(len(waits) * 0.99)]],
            aim=20,
            at_most=True,
        ),
    ]


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


def _peer(receiver: Receiver, ours: float, options: Options) -> list[Figure]:
    """django-webhook's own task for each event; some are enough for its rate."""
    count = options.scaled(PEER_EVENTS, 20)
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
        times = _await_arrivals(receiver, count, seconds=60)
        running.pids()
    rate = (len(times) - 1) / (times[-1] - times[0])
    return [
        Figure(name="draining ÷ django-webhook", values=[ours / rate], aim=40),
        Figure(name="django-webhook: deliveries/s", values=[rate]),
    ]


def _await_arrivals(receiver: Receiver, count: int, *, seconds: float) -> list[float]:
    end = time.monotonic() + seconds
    while len(found := receiver.arrivals()) < count:
        if time.monotonic() > end:
            raise CannotMeasure(f"{len(found)} of {count} deliveries of django-webhook arrived")
        time.sleep(0.1)
    return sorted(at for _path, at in found)
