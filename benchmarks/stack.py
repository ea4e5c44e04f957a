"""The whole product as `./run up` starts it, of this checkout or of another one; the CPU of each of
its layers can be read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from celery import Celery
from redis import Redis

from benchmarks import database, processes
from benchmarks.errors import CannotMeasure
from benchmarks.processes import Server
from config.celery import app
from config.env import broker_url
from devstack import paths, programs

START_SECONDS = 60
OTHER_DATABASE = "bench_against"


@dataclass(frozen=True)
class Checkout:
    """Where the code is, whose Python runs it, and with which servers."""

    folder: Path = processes.ROOT
    python: str = sys.executable
    environment: Mapping[str, str] = field(default_factory=dict)


def other(folder: Path) -> Checkout:
    """Another checkout with a `.venv` of its own, on a new database of the same PostgreSQL and
    another one of the same Valkey. Raises CannotMeasure."""
    python = folder / ".venv" / "bin" / "python"
    if not python.exists():
        raise CannotMeasure(f"{folder} has no .venv: run its `./run test` once")
    database.execute(f"DROP DATABASE IF EXISTS {OTHER_DATABASE} WITH (FORCE)")
    database.execute(f"CREATE DATABASE {OTHER_DATABASE} OWNER {paths.OWNER_ROLE}")
    environment = {
        "DATABASE_URL": _elsewhere(os.environ["DATABASE_URL"]),
        "DATABASE_OWNER_URL": _elsewhere(os.environ["DATABASE_OWNER_URL"]),
        "REDIS_URL": os.environ["REDIS_URL"].replace("db=0", "db=1"),
    }
    made = Checkout(folder.resolve(), str(python.absolute()), environment)
    for command in (["migrate", "--no-input", "--verbosity=0"], ["database_roles"]):
        _manage(made, command)
    return made


def variables(checkout: Checkout) -> dict[str, str]:
    """What its processes find in their environment."""
    metrics = paths.profile().home / "metrics"
    metrics.mkdir(exist_ok=True)
    ours = {"SANDBOX_PACE": "instant", "PROMETHEUS_MULTIPROC_DIR": str(metrics)}
    return {**os.environ, **programs.QUIET, **checkout.environment, **ours}


@dataclass(frozen=True)
class Stack:
    """What runs: `layers` by name, and PostgreSQL."""

    port: int
    layers: Mapping[str, Server]
    postmaster: int

    def cpu_seconds(self) -> dict[str, float]:
        """CPU time of each layer so far."""
        spent = {name: server.cpu_seconds() for name, server in self.layers.items()}
        return spent | {"PostgreSQL": processes.database_cpu_seconds(self.postmaster)}


HERE = Checkout()


@contextmanager
def running(
    checkout: Checkout = HERE,
    *,
    without: str = "",
    workers: int = programs.WORKER_PROCESSES,
    application: str = "config",
) -> Iterator[Stack]:
    """Web, worker (of so many processes), beat and dispatcher for the block, once they are ready.

    `without` names one that is left out; `application` is what Celery's worker runs, instead of the
    product alone. Wake-ups of earlier blocks are forgotten. Raises CannotMeasure.
    """
    port = processes.free_port()
    environment = variables(checkout)
    Redis.from_url(environment["REDIS_URL"]).flushdb()
    with ExitStack() as stack:
        layers = {}
        for each in programs.of_product(paths.profile(), port, environment, workers=workers):
            if each.name == without:
                continue
            command = [checkout.python, *each.command[1:]]
            if each.name == "worker":
                command[command.index("config")] = application
            layers[each.name] = stack.enter_context(
                processes.program(
                    command,
                    name=each.name,
                    port=port if each.name == "web" else 0,
                    environment=environment,
                    folder=checkout.folder,
                )
            )
        if "worker" in layers:
            _await_worker(layers["worker"], broker_url(environment["REDIS_URL"]))
        yield Stack(port, layers, processes.database_pid())


def _await_worker(worker: Server, broker: str) -> None:
    """Until it answers; there is only one at the broker."""
    end = time.monotonic() + START_SECONDS
    # An application of its own: that of the product asks through its own broker in any case.
    asking = Celery("benchmark", broker=broker, set_as_current=False)
    asking.conf.broker_transport_options = app.conf.broker_transport_options
    while not asking.control.inspect(limit=1, timeout=0.3).ping():
        worker.pids()
        if time.monotonic() > end:
            raise CannotMeasure(f"the worker is not ready after {START_SECONDS} s")
    asking.close()


def _elsewhere(url: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{OTHER_DATABASE}"))


def _manage(checkout: Checkout, command: list[str]) -> None:
    done = subprocess.run(  # noqa: S603  # our own command, no shell
        [checkout.python, "manage.py", *command],
        cwd=checkout.folder,
        env=variables(checkout),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotMeasure(f"{command[0]} of {checkout.folder} failed:\n{done.stderr[-500:]}")
