"""Memory of web, Celery and webhook processes after much work, and of a long CSV export."""

from __future__ import annotations

import http.client
import sys
import time

from celery import current_app
from django.conf import settings
from redis import Redis

from benchmarks import api, database, deliveries, load, paging, processes, seeding
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options
from benchmarks.processes import Server
from common.clock import utc_now
from config.work_queues import QUEUES
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tenants.services import keys
from webhooks.models import WebhookEndpoint

SLICE_SECONDS = 2.0
ENDPOINTS = 20
SENDING_SECONDS = 120
PATIENCE = 300  # tenths of a second without a task done; a worker needs some to start
_BLOCK = 1 << 20


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    rows, mine = paging.prepare(options)
    port = processes.free_port()
    with processes.program(processes.gunicorn(port), name="web", port=port) as web:
        requests, web_figures = _requests(web, options)
        growth = _export(web)
    ticks, worker_figures = _worker(options)
    sent, sender_figures = _sender(options)
    text = (
        f"Resident memory. Web: {requests:,} requests of the three hot kinds on 2 workers. Worker: "
        f"{ticks:,} tasks on 2 prefork children. Webhook sender: {sent:,} deliveries of one "
        "`dispatch_webhooks` process. Growth is what each gained after a first short while. CSV: "
        f"{mine:,} rows of the {rows:,} in the table, read by one client; growth of the worker's "
        "process. `--full` does the 100,000 requests and deliveries that the aim speaks of."
    )
    csv = Figure(name="CSV export: growth", unit="MiB", values=[growth], aim=50, at_most=True)
    return Section("Memory", text, [*web_figures, *worker_figures, *sender_figures, csv])


def _figures(name: str, *, warm: list[float], after: list[float], aim: int) -> list[Figure]:
    return [
        Figure(name=name, unit="MiB", values=after, aim=aim, at_most=True),
        Figure(name=f"{name}: growth", unit="MiB", values=[max(after) - max(warm)]),
    ]


def _requests(web: Server, options: Options) -> tuple[int, list[Figure]]:
    """How many were answered, and what that took."""
    wanted = options.scaled(20_000, 2_000, 100_000)
    customer = seeding.customer()
    kinds = api.requests(customer).values()
    served = 0
    warm: list[float] = []
    while served < wanted:
        for request in kinds:
            done = load.run(web.port, request, connections=api.CONNECTIONS, seconds=SLICE_SECONDS)
            served += len(done.times)
        warm = warm or web.resident_mib()
    return served, _figures("web worker", warm=warm, after=web.resident_mib(), aim=180)


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


def _worker(options: Options) -> tuple[int, list[Figure]]:
    ticks = options.scaled(2_000, 100, 20_000)
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
        after = worker.resident_mib()
    return ticks, _figures("Celery worker", warm=warm, after=after, aim=200)


def _sender(options: Options) -> tuple[int, list[Figure]]:
    """The process that sends webhooks, which is no Celery worker here but has its bound."""
    count = options.scaled(5_000, 400, 100_000)
    tenant = seeding.customer().tenant
    database.empty(*deliveries.TABLES)
    with deliveries.receiver() as receiver, deliveries.dispatcher() as sender:
        endpoints = [
            deliveries.endpoint(tenant, receiver.url(f"fast{number}"))
            for number in range(ENDPOINTS)
        ]
        first = count // 10
        _send(endpoints, first, settled=first)
        warm = sender.resident_mib()
        _send(endpoints, count, settled=first + count)
        after = sender.resident_mib()
    database.empty(*deliveries.TABLES)
    return count, _figures("webhook sender", warm=warm, after=after, aim=200)


def _send(endpoints: list[WebhookEndpoint], count: int, *, settled: int) -> None:
    for row in endpoints:
        deliveries.due(row, count // ENDPOINTS)
    deliveries.await_settled(settled, seconds=SENDING_SECONDS)


def _enqueue(count: int) -> None:
    """Sweeps, straight to the broker: the product would send only one of so many wake-ups."""
    for number in range(count):
        name = ("funding.submit_due", "funding.process_network_events")[number % 2]
        current_app.send_task(name, ignore_result=True)


def _until_done(worker: Server) -> None:
    """Wait until the queues are empty. Raises CannotMeasure when they do not get shorter."""
    prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"]
    names = [f"{prefix}{queue.name}" for queue in QUEUES]
    shortest, patience = sys.maxsize, PATIENCE
    with Redis.from_url(settings.REDIS_URL) as broker:
        while left := sum(int(broker.llen(name)) for name in names):
            worker.pids()
            shortest, patience = (left, PATIENCE) if left < shortest else (shortest, patience - 1)
            if not patience:
                raise CannotMeasure(f"the Celery worker stopped with {left} tasks to do")
            time.sleep(0.1)
    time.sleep(1)  # what was taken last
