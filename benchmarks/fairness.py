"""Healthy endpoints beside dead and slow ones, and one endpoint that takes five seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.db import transaction

from benchmarks import database, deliveries, seeding
from benchmarks.deliveries import Receiver
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options
from tenants.models import Tenant
from webhooks import wake
from webhooks.models import WebhookEndpoint

HEALTHY = 40
SICK = 10  # a fifth of all


@dataclass(frozen=True)
class Run:
    """Seconds from the moment everything was due: of each healthy delivery, sorted."""

    waits: list[float]

    @property
    def rate(self) -> float:
        return len(self.waits) / self.waits[-1]

    @property
    def p95(self) -> float:
        return self.waits[int(len(self.waits) * 0.95)]


def measure(options: Options) -> Section:
    """Runs without and with the sick, in turns, then the slow one. Raises CannotMeasure."""
    seeding.require_own_database()
    each = options.scaled(50, 10)
    tenant = seeding.customer().tenant
    alone: list[Run] = []
    beside: list[Run] = []
    with deliveries.receiver() as receiver:
        healthy = [
            deliveries.endpoint(tenant, receiver.url(f"fast{number}")) for number in range(HEALTHY)
        ]
        sick = [
            deliveries.endpoint(tenant, receiver.url(f"{'dead' if number % 2 else 'slow'}{number}"))
            for number in range(SICK)
        ]
        for _ in range(min(options.pairs, 5)):
            alone.append(_run(receiver, healthy, [], each))
            beside.append(_run(receiver, healthy, sick, each))
        behind = _behind_the_slow_one(receiver, tenant, healthy, options)
    database.empty(*deliveries.TABLES)
    return Section(
        "Fairness",
        _TEXT.format(healthy=HEALTHY, sick=SICK, each=each),
        [
            Figure(
                name="p95 of healthy endpoints beside sick ones ÷ alone",
                values=[sick.p95 / free.p95 for sick, free in zip(beside, alone, strict=True)],
                aim=2,
                at_most=True,
            ),
            Figure(
                name="throughput of healthy endpoints beside sick ones ÷ alone",
                values=[sick.rate / free.rate for sick, free in zip(beside, alone, strict=True)],
                aim=0.8,
            ),
            Figure(
                name="2,000 deliveries behind 200 to an endpoint that takes 5 s",
                unit="s",
                values=behind,
                aim=2,
                at_most=True,
            ),
        ],
    )


_TEXT = """{healthy} healthy endpoints with {each} due deliveries each, alone and beside {sick}
endpoints (half never answer, half take 5 s) with as many, which were due first. One dispatcher,
started before; time from the commit that made everything due to the receipt."""


def _run(
    receiver: Receiver, healthy: list[WebhookEndpoint], sick: list[WebhookEndpoint], each: int
) -> Run:
    database.empty(*deliveries.TABLES)
    database.execute(
        "UPDATE webhooks_webhookendpoint SET consecutive_failures = 0, paused_until = NULL"
    )
    with deliveries.dispatcher():
        deliveries.due(healthy[0], 1)
        deliveries.await_settled(1, seconds=30)
        receiver.forget()
        began = _make_due(dict.fromkeys([*sick, *healthy], each))
        return Run(_healthy_waits(receiver, began, len(healthy) * each))


def _make_due(counts: dict[WebhookEndpoint, int]) -> float:
    """All at once, and the dispatcher told as publishing tells it; returns when, in Unix time.

    Untold it would look within a second: noise as long as the whole run.
    """
    with transaction.atomic():
        for endpoint, count in counts.items():
            deliveries.due(endpoint, count)
    began = time.time()
    wake.dispatchers()
    return began


def _behind_the_slow_one(
    receiver: Receiver, tenant: Tenant, healthy: list[WebhookEndpoint], options: Options
) -> list[float]:
    slow = deliveries.endpoint(tenant, receiver.url("slow-alone"))
    each = options.scaled(2_000, 200) // len(healthy)
    took = []
    for _ in range(min(options.pairs, 5)):
        database.empty(*deliveries.TABLES)
        with deliveries.dispatcher():
            deliveries.due(healthy[0], 1)
            deliveries.await_settled(1, seconds=30)
            receiver.forget()
            began = _make_due({slow: 200} | dict.fromkeys(healthy, each))
            took.append(_healthy_waits(receiver, began, each * len(healthy))[-1])
    return took


def _healthy_waits(receiver: Receiver, began: float, count: int) -> list[float]:
    end = time.monotonic() + 60
    while True:
        found = [at - began for path, at in receiver.arrivals() if path.startswith("/fast")]
        if len(found) >= count:
            return sorted(max(wait, 0.0001) for wait in found)
        if time.monotonic() > end:
            raise CannotMeasure(f"{len(found)} of {count} healthy deliveries arrived in a minute")
        time.sleep(0.2)
