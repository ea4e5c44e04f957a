"""How long `./run` needs to its first answer, once installed; with and without data."""

from __future__ import annotations

import os
import shutil
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from benchmarks import processes
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options
from benchmarks.processes import Server
from devstack import paths

WAIT_SECONDS = 60
_OF_THE_BENCH = (
    *("DATABASE_URL", "DATABASE_API_URL", "DATABASE_OWNER_URL", "REDIS_URL"),
    *paths.JOB_ROLES,
    *("BALLAST_RUN_DIR", "BASE_URL", "DEBUG"),
)
_LAST_LINE = b"Ctrl-C stops it."


@dataclass(frozen=True)
class _Start:
    """Seconds to the first answer, and to the last line of the logins."""

    answer: float
    ready: float


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    profile = f"{os.environ.get('BALLAST_PROFILE') or 'dev'}-start"
    new: list[_Start] = []
    again: list[_Start] = []
    for number in range(options.pairs):
        shutil.rmtree(paths.profile(profile).home)
        new.append(_start(profile))
        again.append(_start(profile))
        options.tell(f"start: round {number + 1} of {options.pairs}")
    ready = [start.ready for start in new]
    figures = [
        _answer("first start, with a new database", new),
        Figure(name="the same, to the logins of the demo tenant", unit="s", values=ready),
        _answer("start", again),
    ]
    text = (
        "From `./run up` to the first answer of the dashboard's sign-in page; packages are "
        "installed. The time of the tests is what `./run test` prints."
    )
    return Section("Start", text, figures)


def _answer(name: str, starts: Sequence[_Start]) -> Figure:
    answers = [start.answer for start in starts]
    return Figure(name=name, unit="s", values=answers, aim=15, at_most=True)


def _start(profile: str) -> _Start:
    port = processes.free_port()
    left = {name: value for name, value in os.environ.items() if name not in _OF_THE_BENCH}
    command = [sys.executable, "-m", "devstack", "up", "--profile", profile, f"--port={port}"]
    began = time.perf_counter()
    with processes.program(
        command, name="start", port=port, environment=left, bare=True
    ) as running:
        answer = _seconds_until(lambda: _answers(port), running, began)
        ready = _seconds_until(lambda: _LAST_LINE in running.log.read_bytes(), running, began)
        return _Start(answer=answer, ready=ready)


def _answers(port: int) -> bool:
    with suppress(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/accounts/login/", timeout=5).close()
        return True
    return False


def _seconds_until(is_true: Callable[[], bool], running: Server, began: float) -> float:
    while time.perf_counter() - began < WAIT_SECONDS:
        running.pids()
        if is_true():
            return time.perf_counter() - began
        time.sleep(0.05)
    raise CannotMeasure(f"no answer within {WAIT_SECONDS} s")
