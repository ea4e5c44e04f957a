"""Memory of web workers after many requests, of a Celery worker, and of a long CSV export."""

from __future__ import annotations

import http.client
import sys
import time

from celery import current_app
from django.conf import settings
from redis import Redis

from benchmarks import api, load, paging, processes, seeding
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options
from benchmarks.processes import Server
from common.clock import utc_now
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tenants.services import keys

WARM_SECONDS = 3.0
_BLOCK = 1 << 20


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    rows, mine = paging.prepare(options)
    seconds = options.scaled(8, 2)
    port = processes.free_port()
    with processes.program(processes.gunicorn(port), name="web", port=port) as web:
        served, warm, after = _requests(web, seconds)
        growth = _export(web)
    worker_warm, worker_after, ticks = _worker(options)
    text = (
        f"Resident memory. Web: {served:,} requests of the three hot kinds on 2 workers, after a "
        f"first {3 * WARM_SECONDS:.0f} s; the aim speaks of 100,000, the time of one run allows "
        f"this many. Worker: {ticks:,} tasks on 2 prefork children. CSV: {mine:,} rows of the "
        f"{rows:,} in the table, read by one client; growth of the worker's process."
    )
    return Section(
        "Memory",
        text,
        [
            Figure(name="web worker", unit="MiB", values=after, aim=180, at_most=True),
            Figure(
                name="web worker: growth after warm-up",
                unit="MiB",
                values=[max(after) - max(warm)],
            ),
            Figure(name="Celery worker", unit="MiB", values=worker_after, aim=200, at_most=True),
            Figure(
                name="Celery worker: growth",
                unit="MiB",
                values=[max(worker_after) - max(worker_warm)],
            ),
            Figure(name="CSV export: growth", unit="MiB", values=[growth], aim=50, at_most=True),
        ],
    )


def _requests(web: Server, seconds: float) -> tuple[int, list[float], list[float]]:
    """How many were answered; memory when warm and at the end."""
    customer = seeding.customer()
    kinds = api.requests(customer).values()
    served = 0
    warm: list[float] = []
    for duration in (WARM_SECONDS, seconds):
        for request in kinds:
            done = load.run(web.port, request, connections=api.CONNECTIONS, seconds=duration)
            served += len(done.times)
        warm = warm or web.resident_mib()
    return served, warm, web.resident_mib()


def _export(web: Server) -> float:
    """MiB by which the largest web process grew while it sent a long statement."""
    tenant = Tenant.objects.get(pk=f"{paging.OWNER}0")
    key = keys.issue(tenant=tenant, name="benchmark", actor=SYSTEM, now=utc_now()).text
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=60)
    before = dict(zip(web.pids()[1:], web.resident_mib(), strict=True))
    highest = 0.0
    try:
        headers = {"Authorization": f"Bearer {key}"}
        connection.request("GET", "/api/v1/balance/transactions.csv", headers=headers)
        answer = connection.getresponse()
        if answer.status != http.HTTPStatus.OK:
            raise CannotMeasure(f"the export answered {answer.status}")
        while answer.read(_BLOCK):
            now = dict(zip(web.pids()[1:], web.resident_mib(), strict=True))
            highest = max(highest, *(now[pid] - before[pid] for pid in now if pid in before))
    finally:
        connection.close()
    return highest


def _worker(options: Options) -> tuple[list[float], list[float], int]:
    ticks = options.scaled(2_000, 100)
    command = [
        *(sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker"),
        *("--concurrency=2", "--loglevel=ERROR", "--without-gossip", "--without-mingle"),
    ]
    with processes.program(command, name="worker") as worker:
        _enqueue(100)
        _until_done(worker)
        warm = worker.resident_mib()
        _enqueue(ticks)
        _until_done(worker)
        return warm, worker.resident_mib(), ticks


def _enqueue(count: int) -> None:
    """Sweeps, straight to the broker: the product would send only one of so many wake-ups."""
    for number in range(count):
        name = ("funding.submit_due", "funding.process_network_events")[number % 2]
        current_app.send_task(name, ignore_result=True)


def _until_done(worker: Server) -> None:
    """Wait until the queue is empty. Raises CannotMeasure when it is not within a minute."""
    queue = f"{settings.CELERY_BROKER_TRANSPORT_OPTIONS['global_keyprefix']}celery"
    with Redis.from_url(settings.REDIS_URL) as broker:
        for _ in range(600):
            worker.pids()
            if not broker.llen(queue):
                time.sleep(1)  # what was taken last
                return
            time.sleep(0.1)
    raise CannotMeasure("the Celery worker did not finish within a minute")
