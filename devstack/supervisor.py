"""Keeps programs running in one single-threaded loop: reads their output, restarts the dead."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable
from typing import IO, cast

from devstack.errors import StartFailed
from devstack.processes import Child, Program

Sink = Callable[[str, str], None]

LOOP_SECONDS = 0.2
READ_BYTES = 65_536
RESTART_SECONDS_FIRST = 1.0
RESTART_SECONDS_MAX = 15.0
HEALTHY_SECONDS = 30.0


class _Watched:
    """A program, its present child and when to start it again."""

    def __init__(self, child: Child, *, is_ours: bool) -> None:
        self.program = child.program
        self.child = child
        self.is_ours = is_ours
        self.unfinished_line = b""
        self.restart_at: float | None = None
        self.restart_seconds = RESTART_SECONDS_FIRST


class Supervisor:
    """`sink(name, line)` gets every line the programs write and every remark of our own."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._selector = selectors.DefaultSelector()
        self._watched: list[_Watched] = []

    def start(self, program: Program) -> None:
        self._add(_Watched(Child(program), is_ours=True))

    def watch(self, child: Child) -> None:
        """Look after a child that somebody else started and will stop."""
        self._add(_Watched(child, is_ours=False))

    def _add(self, watched: _Watched) -> None:
        self._watched.append(watched)
        self._read_output_of(watched)

    def wait_until(self, is_true: Callable[[], bool], *, timeout: float) -> bool:
        """Run until the condition holds. StartFailed when a program dies before that."""
        deadline = time.monotonic() + timeout
        while not is_true():
            if time.monotonic() > deadline:
                return False
            self._read(LOOP_SECONDS)
            for watched in self._watched:
                if watched.child.has_ended:
                    self._read(0)
                    raise StartFailed(f"{watched.program.name} {_how_it_ended(watched.child)}.")
        return True

    def run_while(self, is_true: Callable[[], bool]) -> None:
        """Keep everything running for as long as the condition holds."""
        while is_true():
            self._read(LOOP_SECONDS)
            for watched in self._watched:
                self._restart_if_dead(watched)

    def stop(self) -> None:
        """Ask the programs we started to end, all at once; kill what outlives its time."""
        chosen = [watched for watched in self._watched if watched.is_ours]
        for watched in chosen:
            watched.child.ask_to_stop()
        begun = time.monotonic()
        for watched in chosen:
            self._await_end(watched, begun + watched.program.stop_seconds)
            watched.child.kill_group()
        self._read(0)

    def _await_end(self, watched: _Watched, deadline: float) -> None:
        while not watched.child.has_ended:
            if time.monotonic() > deadline:
                self._sink("ballast", f"{watched.program.name} does not stop: killing it")
                return
            self._read(LOOP_SECONDS / 4)

    def _restart_if_dead(self, watched: _Watched) -> None:
        if not watched.child.has_ended:
            return
        if watched.restart_at is None:
            self._plan_restart(watched)
        elif time.monotonic() >= watched.restart_at:
            watched.restart_at = None
            watched.child.restart()
            self._read_output_of(watched)

    def _plan_restart(self, watched: _Watched) -> None:
        watched.child.kill_group()
        if time.monotonic() - watched.child.started_at > HEALTHY_SECONDS:
            watched.restart_seconds = RESTART_SECONDS_FIRST
        delay = watched.restart_seconds
        watched.restart_at = time.monotonic() + delay
        watched.restart_seconds = min(2 * delay, RESTART_SECONDS_MAX)
        ended = _how_it_ended(watched.child)
        self._sink("ballast", f"{watched.program.name} {ended}; starting it again in {delay:.0f} s")

    def _read_output_of(self, watched: _Watched) -> None:
        if watched.child.process.stdout is not None:
            self._selector.register(watched.child.process.stdout, selectors.EVENT_READ, watched)

    def _read(self, timeout: float) -> None:
        if not self._selector.get_map():
            time.sleep(timeout)
            return
        for key, _ in self._selector.select(timeout):
            self._read_lines(cast("IO[bytes]", key.fileobj), key.data)

    def _read_lines(self, stream: IO[bytes], watched: _Watched) -> None:
        chunk = os.read(stream.fileno(), READ_BYTES)
        if not chunk:
            self._selector.unregister(stream)
            with contextlib.suppress(OSError):
                stream.close()
            return
        *lines, watched.unfinished_line = (watched.unfinished_line + chunk).split(b"\n")
        for line in lines:
            self._sink(watched.program.name, line.decode(errors="replace"))


def _how_it_ended(child: Child) -> str:
    code = child.process.wait()
    if code < 0:
        return f"was killed ({signal.Signals(-code).name})"
    return f"ended with code {code}"
