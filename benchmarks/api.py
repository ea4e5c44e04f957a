"""The three hot requests over the shipped server, against DRF views that do next to nothing."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks import load, processes, seeding
from benchmarks.figures import Figure, Section, ratios
from benchmarks.load import Request
from benchmarks.options import Options
from benchmarks.processes import Server
from benchmarks.seeding import Customer

CONNECTIONS = 8
WARM_SECONDS = 1.0
PEER = "benchmarks.peers.wsgi:application"
CONSTANT = "/api/v1/constant"
AIMS = {"summary": 1.0, "transactions": 1.0, "topup": 0.6}


@dataclass(frozen=True)
class Sample:
    """One slice: requests per second, CPU of the server per request, what 99 % waited at most."""

    rate: float
    cpu_ms: float
    p99_ms: float


def measure(options: Options) -> Section:
    """Ours and the peer in turns. Raises CannotMeasure."""
    seeding.require_own_database()
    customer = seeding.customer()
    seeding.history(customer.tenant.pk, 400)
    figures: list[Figure] = []
    ours, peer = processes.free_port(), processes.free_port()
    with (
        processes.program(processes.gunicorn(ours), name="web", port=ours) as web,
        processes.program(processes.gunicorn(peer, PEER), name="peer", port=peer) as other,
    ):
        for name, request in requests(customer).items():
            constant = replace(request, path=CONSTANT)
            sides = [(web, request), (other, request), (other, constant)]
            figures += _figures(name, *in_turns(sides, options))
    return Section("API", _TEXT.format(pairs=options.pairs, seconds=options.seconds), figures)


_TEXT = """{pairs} interleaved pairs of {seconds} s, 8 kept connections, gunicorn with 2 workers of
4 threads on either side. The peer is `benchmarks/peers/drf.py`: a hashed-key look-up and one query
or insert through the ORM's `values`, no middleware but Content-Length, nothing else of what ours
does (request id, log line, metrics, throttle in Valkey, scopes, idempotency, limits, history row,
outbox, pending balance). The constant view beside it looks no key up and asks nothing."""


def requests(customer: Customer) -> dict[str, Request]:
    """The hot ones, by name."""
    topup = {
        "amount": 1234,
        "fundingSourceId": customer.source.pk,
        "fundingMethod": "ach_debit",
        "description": "x",
    }
    statement = "/api/v1/balance/transactions?limit=50"
    return {
        "summary": Request(method="GET", path="/api/v1/balance/summary", key=customer.key),
        "transactions": Request(method="GET", path=statement, key=customer.key),
        "topup": Request(
            method="POST",
            path="/api/v1/balance/topup",
            key=customer.key,
            status=201,
            body=json.dumps(topup).encode,
            headers=lambda: f"Idempotency-Key: {secrets.token_hex(12)}\r\n",
        ),
    }


def in_turns(
    sides: Sequence[tuple[Server, Request]], options: Options, *, connections: int = CONNECTIONS
) -> list[list[Sample]]:
    """Samples of each server and its request, each round in the other order, after all are warm."""
    for server, request in sides:
        load.run(server.port, request, connections=connections, seconds=WARM_SECONDS)
    samples: list[list[Sample]] = [[] for _ in sides]
    for number in range(options.pairs):
        turns = list(zip(sides, samples, strict=True))
        for (server, request), mine in turns if number % 2 == 0 else reversed(turns):
            mine.append(_slice(server, request, connections, options.seconds))
    return samples


def _slice(server: Server, request: Request, connections: int, seconds: float) -> Sample:
    before = server.cpu_seconds()
    done = load.run(server.port, request, connections=connections, seconds=seconds)
    spent = server.cpu_seconds() - before
    slowest = sorted(done.times)[int(len(done.times) * 0.99)]
    return Sample(done.rate, cpu_ms=spent / len(done.times) * 1000, p99_ms=slowest * 1000)


def _figures(
    name: str, ours: Sequence[Sample], peers: Sequence[Sample], constants: Sequence[Sample]
) -> list[Figure]:
    rates, looked_up, constant = (
        [item.rate for item in samples] for samples in (ours, peers, constants)
    )
    figures = [
        Figure(
            name=f"{name}: requests/s ÷ DRF view", values=ratios(rates, looked_up), aim=AIMS[name]
        ),
        Figure(name=f"{name}: requests/s ÷ constant DRF view", values=ratios(rates, constant)),
        Figure(name=f"{name}: requests/s", values=rates),
    ]
    sides = {"server": ours, "the DRF view's": peers, "the constant view's": constants}
    return figures + [
        Figure(
            name=f"{name}: {side} CPU per request",
            unit="ms",
            values=[item.cpu_ms for item in samples],
        )
        for side, samples in sides.items()
    ]
