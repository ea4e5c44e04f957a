"""Python clients as processes of their own, kept warm and told when to run."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, cast

import django
from django.utils.module_loading import import_string

from benchmarks import database, pgbench, processes
from benchmarks.errors import CannotMeasure
from benchmarks.peers import installation

WARM_UP_OPERATIONS = 20
END_SECONDS = 10


@dataclass(frozen=True)
class Crew:
    """Started clients; each pipe takes a number of seconds and answers with a rate."""

    pipes: Sequence[Connection]
    pids: Sequence[int] = ()

    def cpu_seconds(self) -> float:
        """CPU time of all of them so far."""
        return sum(map(processes.cpu_seconds, self.pids))

    def rate(self, seconds: float) -> float:
        """Operations per second of all clients together. Raises CannotMeasure."""
        try:
            for pipe in self.pipes:
                pipe.send(seconds)
            return sum(float(pipe.recv()) for pipe in self.pipes)
        except (EOFError, OSError) as error:
            raise CannotMeasure("a client ended") from error


@contextmanager
def crew(prepare: str, *arguments: int, clients: int) -> Iterator[Crew]:
    """Start the clients and end them with the block.

    `prepare` is the dotted name of a function that is called in each client's process with its
    number and `arguments`, and returns the operation.
    """
    context = multiprocessing.get_context("spawn")
    ours: list[Connection] = []
    children = []
    for number in range(clients):
        near, far = context.Pipe()
        process = context.Process(
            target=_serve, args=(prepare, (number, *arguments), far), daemon=True
        )
        process.start()
        far.close()
        ours.append(near)
        children.append(process)
    try:
        yield Crew(ours, [child.pid for child in children if child.pid])
    finally:
        for pipe in ours:
            pipe.close()
        for child in children:
            child.join(END_SECONDS)


class Outside:
    """A peer in a process of its own, under its own packages (`benchmarks.peers.outside`)."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def rate(self, seconds: float) -> float:
        """Operations per second. Raises CannotMeasure when the peer ended."""
        self._ask(f"{seconds}\n")
        return float(self.answer())

    def _ask(self, line: str) -> None:
        try:
            stream = cast("IO[str]", self._process.stdin)
            stream.write(line)
            stream.flush()
        except OSError as error:
            raise CannotMeasure("a peer ended") from error

    def answer(self) -> str:
        line = cast("IO[str]", self._process.stdout).readline()
        if not line:
            raise CannotMeasure("a peer ended: see its log in the profile's logs")
        return line


@contextmanager
def outside(peer: str, *arguments: object, apps: str) -> Iterator[Outside]:
    """Start `benchmarks.peers.<peer>` with a new database and end it with the block."""
    database.execute("DROP DATABASE IF EXISTS bench_peers WITH (FORCE)")
    database.execute("CREATE DATABASE bench_peers")
    command = [installation.python(), "-m", "benchmarks.peers.outside", peer]
    log = Path(os.environ["BALLAST_RUN_DIR"]) / "logs" / f"{peer}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as errors:
        process = subprocess.Popen(  # noqa: S603  # our own command, no shell
            [*command, *map(str, arguments)],
            cwd=processes.ROOT,
            env=os.environ | pgbench.address(superuser=True) | {"PEER_APPS": apps},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        peer_process = Outside(process)
        peer_process.answer()
        yield peer_process
    finally:
        process.kill()
        process.wait()


def _serve(prepare: str, arguments: Sequence[int], pipe: Connection) -> None:
    django.setup()
    act = import_string(prepare)(*arguments)
    for _ in range(WARM_UP_OPERATIONS):  # connects, prepares statements, settles on a plan
        act()
    while True:
        try:
            seconds = pipe.recv()
        except EOFError:
            return
        began = time.perf_counter()
        end, count = began + seconds, 0
        while time.perf_counter() < end:
            act()
            count += 1
        pipe.send(count / (time.perf_counter() - began))
