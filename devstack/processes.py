"""Owned children: each in its own session, each with a signal it gets when we die."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from devstack.accounts import Account
from devstack.errors import StartFailed

LOG_BYTES_MAX = 1_000_000
LOOK_SECONDS = 0.01


@dataclass(frozen=True, kw_only=True)
class Program:
    """What to run and how to stop it."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    log: Path | None = None
    """Where its output goes; None gives a pipe for the supervisor to read."""
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 15
    kept_descriptors: tuple[int, ...] = field(default=())


class Child:
    """A running program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.started_at = time.monotonic()
        self.process = _spawn(program)

    def restart(self) -> None:
        """Run the ended program again."""
        self.started_at = time.monotonic()
        self.process = _spawn(self.program)

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def has_ended(self) -> bool:
        return has_ended(self.process)

    def ask_to_stop(self) -> None:
        if not self.has_ended:
            os.kill(self.process.pid, self.program.stop_signal)

    def kill_group(self) -> None:
        """End whatever is left of the program, its own children included."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> bool:
        """Stop and reap it. False when it had to be killed."""
        self.ask_to_stop()
        deadline = time.monotonic() + self.program.stop_seconds
        while not self.has_ended and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
        ended_by_itself = self.has_ended
        self.kill_group()
        return ended_by_itself


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Looks without reaping: a signal whose handler raises cannot cut it short.

    `Popen.poll`, `send_signal` and `wait` with a timeout take a lock, and never give it back when
    a handler raises in the wrong moment; whoever waits afterwards waits for ever.
    """
    if process.returncode is not None:
        return True
    look_only = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, look_only) is not None


def death_bound(
    command: Sequence[str], *, death_signal: signal.Signals, account: Account | None = None
) -> list[str]:
    """`command`, wrapped so that the kernel sends it `death_signal` when this process dies."""
    uid, gid = (account.uid, account.gid) if account else (-1, -1)
    wrapper = Path(__file__).with_name("child.py")
    head = [sys.executable, "-I", "-S", wrapper, os.getpid(), int(death_signal), uid, gid]
    return [*map(str, head), *command]


def _spawn(program: Program) -> subprocess.Popen[bytes]:
    command = death_bound(
        program.command, death_signal=program.stop_signal, account=program.account
    )
    with contextlib.ExitStack() as stack:
        output = subprocess.PIPE if program.log is None else open_log(program.log)
        if program.log is not None:
            stack.callback(os.close, output)
        process = subprocess.Popen(
            command,
            env=dict(program.environment),
            cwd=program.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=program.kept_descriptors,
        )
    _tell_undertaker(process.pid)
    return process


def _tell_undertaker(group: int) -> None:
    stream = cast("IO[bytes]", _undertaker().stdin)
    stream.write(b"%d\n" % group)
    stream.flush()


@functools.cache
def _undertaker() -> subprocess.Popen[bytes]:
    """One for this process, started with the first child; it outlives us by what it must do."""
    script = Path(__file__).with_name("undertaker.py")
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    atexit.register(process.communicate)
    return process


def open_log(path: Path, *, bytes_max: int = LOG_BYTES_MAX) -> int:
    """A descriptor that appends to a log; one longer than `bytes_max` is set aside first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > bytes_max:
        path.replace(path.with_suffix(".old.log"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def log_tail(path: Path, lines: int = 15) -> str:
    """The last lines of a log, for a message about a failure."""
    if not path.exists():
        return ""
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])


def run_to_end(program: Program) -> None:
    """Run a short program; StartFailed with the end of its log unless it succeeds."""
    child = Child(program)
    try:
        code = child.process.wait()
    finally:
        child.kill_group()
    if code != 0 and program.log is not None:
        raise StartFailed(f"{program.name} failed ({code}):\n{log_tail(program.log)}")
