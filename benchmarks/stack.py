"""The whole product as `./run up` starts it; the CPU of each of its layers can be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import processes
from benchmarks.processes import Server
from devstack import paths, programs

# The sandbox bank's messages are due as soon as it has taken an instruction over.
_PACE = {"SANDBOX_PACE": "instant"}


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


@contextmanager
def running(*, without: str = "") -> Iterator[Stack]:
    """Web, worker, beat and dispatcher for the block; `without` names one that is left out."""
    port = processes.free_port()
    metrics = Path(os.environ["BALLAST_RUN_DIR"]) / "metrics"
    metrics.mkdir(parents=True, exist_ok=True)
    environment = _PACE | {"PROMETHEUS_MULTIPROC_DIR": str(metrics)}
    with ExitStack() as stack:
        layers = {}
        for each in programs.of_product(paths.profile(), port, environment):
            if each.name != without:
                layers[each.name] = stack.enter_context(
                    processes.program(
                        each.command,
                        name=each.name,
                        port=port if each.name == "web" else 0,
                        environment=each.environment,
                    )
                )
        yield Stack(port, layers, processes.database_pid())
