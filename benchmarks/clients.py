"""Python clients as processes of their own, kept warm and told when to run."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

import django
from django.utils.module_loading import import_string

from benchmarks.errors import CannotMeasure

WARM_UP_OPERATIONS = 20
END_SECONDS = 10


@dataclass(frozen=True)
class Crew:
    """Started clients; each pipe takes a number of seconds and answers with a rate."""

    pipes: Sequence[Connection]

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
    processes = []
    for number in range(clients):
        near, far = context.Pipe()
        process = context.Process(
            target=_serve, args=(prepare, (number, *arguments), far), daemon=True
        )
        process.start()
        far.close()
        ours.append(near)
        processes.append(process)
    try:
        yield Crew(ours)
    finally:
        for pipe in ours:
            pipe.close()
        for process in processes:
            process.join(END_SECONDS)


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
