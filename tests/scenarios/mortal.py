"""A worker as a process that dies at one of its steps.

It is a fork of the test. Every call to the database, and whatever else its story counts, is two
steps: one before it, one after. SIGKILL comes at one of them.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

from django.db import connection

from tests.crashes import bomb

# A kind of work, and the number of the step in it, from 1.
Point = tuple[str, int]
NEVER: Point = ("", 0)


class Death(bomb.Bomb):
    """Counts the steps of each kind of work, and ends the process at one of them."""

    def __init__(self, at: Point, told: int) -> None:
        super().__init__()
        self._at_point = at
        self._told = told
        self._work = ""
        self._steps: Counter[str] = Counter()
        self._stepping = Lock()

    def begin(self, work: str) -> None:
        self._work = work

    def call(self, _connection: Any, real: Callable[[], Any]) -> Any:
        return self.around(real)

    def around(self, real: Callable[[], Any]) -> Any:
        self.step()
        answer = real()
        self.step()
        return answer

    def step(self) -> None:
        with self._stepping:  # threads may take steps of one work
            self._steps[self._work] += 1
            os.write(self._told, f"{self._work}\n".encode())
            if (self._work, self._steps[self._work]) == self._at_point:
                os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Ended:
    """What a process did: the work of each of its steps, and whether it was killed."""

    works: list[str]
    is_killed: bool


def run(life: Callable[[Death], Any], *, dies_at: Point = NEVER) -> Ended:
    """Live `life` in a process of its own."""
    connection.close()  # the fork makes its own
    reading_end, writing_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading_end)
        _live(life, Death(dies_at, writing_end))
    os.close(writing_end)
    with os.fdopen(reading_end) as told:
        works = told.read().split()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return Ended(works, is_killed=True)
    assert os.waitstatus_to_exitcode(status) == 0
    return Ended(works, is_killed=False)


def _live(life: Callable[[Death], Any], death: Death) -> None:
    try:
        with bomb.planted(death):
            life(death)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def points_of(works: list[str]) -> list[Point]:
    """Each step of a life: the work, and its number in that."""
    done: Counter[str] = Counter()
    points = []
    for work in works:
        done[work] += 1
        points.append((work, done[work]))
    return points
