from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import IO

import pytest

from devstack.processes import Child, Program

SLEEPS = "import time; print(flush=True); time.sleep(60)"
SLEEPS_ON = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEPS


@pytest.fixture
def start():
    """A program that has begun; ended with the test."""
    children = []

    def start(script: str = SLEEPS, *, stop_seconds: float = 15) -> Child:
        program = Program(
            name="program",
            command=[sys.executable, "-c", script],
            environment=os.environ,
            folder=Path.cwd(),
            stop_seconds=stop_seconds,
        )
        children.append(child := Child(program))
        output_of(child).readline()
        return child

    yield start
    for child in children:
        child.kill_group()
        output_of(child).close()


@pytest.fixture
def leave_lock_taken(start):
    """What a signal does to `Popen` when its handler raises in the midst of poll or wait."""
    locks = []

    def leave(child: Child) -> None:
        locks.append(vars(child.process)["_waitpid_lock"])
        locks[-1].acquire()

    yield leave
    for lock in locks:
        lock.release()


def output_of(child: Child) -> IO[bytes]:
    assert child.process.stdout is not None
    return child.process.stdout


def await_end(child: Child) -> None:
    os.waitid(os.P_PID, child.process.pid, os.WEXITED | os.WNOWAIT)


def test_a_program_is_seen_to_run_and_to_end(start, leave_lock_taken):
    child = start()
    leave_lock_taken(child)

    assert not child.has_ended

    os.kill(child.process.pid, signal.SIGKILL)
    await_end(child)
    assert child.has_ended


def test_asking_to_stop_takes_no_lock(start, leave_lock_taken):
    child = start()
    leave_lock_taken(child)

    child.ask_to_stop()
    await_end(child)
    child.ask_to_stop()

    assert child.has_ended


def test_a_program_that_stops_is_reaped(start):
    child = start()

    assert child.stop()
    assert child.process.returncode == -signal.SIGTERM
    assert child.has_ended


def test_a_program_that_does_not_stop_is_killed(start):
    child = start(SLEEPS_ON, stop_seconds=0.1)

    assert not child.stop()
    assert child.process.returncode == -signal.SIGKILL
