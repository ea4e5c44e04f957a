"""How long `./run` needs to its first answer, once installed; with and without data."""

from __future__ import annotations

import os
import sys
import time
import urllib.request
from contextlib import suppress

from benchmarks import processes
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options

WAIT_SECONDS = 60
_OF_THE_BENCH = ("DATABASE_URL", "REDIS_URL", "BALLAST_RUN_DIR", "BASE_URL", "DEBUG")


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    took = [_first_answer() for _ in range(1 if options.quick else 2)]
    figures = [
        Figure(name="first start, with a new database", unit="s", values=took[:1]),
    ]
    if took[1:]:
        figures.append(Figure(name="start", unit="s", values=took[1:], aim=15, at_most=True))
    text = (
        "From `./run up` to the first answer of the dashboard's sign-in page; packages are "
        "installed. The time of the tests is what `./run test` prints."
    )
    return Section("Start", text, figures)


def _first_answer() -> float:
    port = processes.free_port()
    profile = f"{os.environ.get('BALLAST_PROFILE') or 'dev'}-start"
    left = {name: value for name, value in os.environ.items() if name not in _OF_THE_BENCH}
    command = [sys.executable, "-m", "devstack", "up", "--profile", profile, f"--port={port}"]
    began = time.perf_counter()
    with processes.program(
        command, name="start", port=port, environment=left, bare=True
    ) as running:
        while time.perf_counter() - began < WAIT_SECONDS:
            running.pids()
            with suppress(OSError):
                urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/accounts/login/", timeout=5
                ).close()
                return time.perf_counter() - began
            time.sleep(0.05)
    raise CannotMeasure(f"no answer within {WAIT_SECONDS} s")
