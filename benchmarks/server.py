"""gunicorn with our threaded worker against granian, on the product itself."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import api, processes, seeding
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options
from benchmarks.peers import installation
from benchmarks.processes import Server

CONNECTIONS = 16


def measure(options: Options) -> Section:
    """The hot requests on either server in turns. Raises CannotMeasure."""
    seeding.require_own_database()
    customer = seeding.customer()
    seeding.history(customer.tenant.pk, 400)
    shipped, other = processes.free_port(), processes.free_port()
    figures: list[Figure] = []
    with (
        processes.program(processes.gunicorn(shipped), name="web", port=shipped) as web,
        processes.program(_granian(other), name="granian", port=other) as granian,
    ):
        for name, request in api.requests(customer).items():
            sides = [(web, request), (granian, request)]
            ours, theirs = api.in_turns(sides, options, connections=CONNECTIONS)
            figures += _figures(name, ours, theirs)
        figures += [_memory("gunicorn", web), _memory("granian", granian)]
    return Section("Server", _TEXT.format(pairs=options.pairs, seconds=options.seconds), figures)


_TEXT = """{pairs} interleaved pairs of {seconds} s, 16 kept connections, the product on either
side: gunicorn with its worker class of ours, granian over WSGI, each 2 workers of 4 threads. Which
one is kept, and why, is in decision 0080."""


def _granian(port: int) -> Sequence[str]:
    return [
        *(installation.python(), "-m", "granian", "--interface=wsgi", "--no-ws"),
        *("--host=127.0.0.1", f"--port={port}", "--workers=2", "--blocking-threads=4"),
        "config.wsgi:application",
    ]


def _figures(name: str, ours: Sequence[api.Sample], theirs: Sequence[api.Sample]) -> list[Figure]:
    shares = ratios([item.rate for item in ours], [item.rate for item in theirs])
    figures = [Figure(name=f"{name}: gunicorn ÷ granian, requests/s", values=shares)]
    for server, samples in (("gunicorn", ours), ("granian", theirs)):
        cpu, slow = [item.cpu_ms for item in samples], [item.p99_ms for item in samples]
        figures += [
            Figure(name=f"{name}: CPU per request, {server}", unit="ms", values=cpu),
            Figure(name=f"{name}: p99, {server}", unit="ms", values=slow),
        ]
    return figures


def _memory(name: str, server: Server) -> Figure:
    return Figure(name=f"memory of a process, {name}", unit="MiB", values=server.resident_mib())
