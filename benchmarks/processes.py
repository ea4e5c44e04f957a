"""Servers of a benchmark: started, waited for, their CPU time and memory read, ended."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from django.db import connection

from benchmarks.errors import CannotMeasure

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 120
STOP_SECONDS = 20
_NANO = 1e9
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    """A running program with all its descendants."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def cpu_seconds(self) -> float:
        """CPU time of the program and its living descendants so far."""
        return sum(map(cpu_seconds, self.pids()))

    def resident_mib(self) -> list[float]:
        """Memory of each descendant, or of the program itself if it has none."""
        pids = self.pids()
        return [_resident_mib(pid) for pid in pids[1:] or pids]

    def pids(self) -> list[int]:
        """The program first. Raises CannotMeasure when it ended."""
        if self.process.poll() is not None:
            raise CannotMeasure(f"a server ended:\n{self.log.read_text()[-2000:]}")
        return _family(self.process.pid)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def program(
    command: Sequence[str],
    *,
    name: str,
    port: int = 0,
    environment: Mapping[str, str] | None = None,
    bare: bool = False,
    folder: Path = ROOT,
) -> Iterator[Server]:
    """Run `command` for the block; with a port, from when it accepts. Raises CannotMeasure.

    `environment` is added to ours, or is all there is (`bare`).
    """
    log = Path(os.environ["BALLAST_RUN_DIR"]) / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603  # our own command, no shell
            command,
            cwd=folder,
            env={**({} if bare else os.environ), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = Server(process, port, log)
    try:
        if port:
            _await_port(server)
        yield server
    finally:
        _end(process)


def gunicorn(port: int, application: str = "config.wsgi:application") -> list[str]:
    """The command that serves the product (`devstack.programs`), here for any application."""
    return [
        *(sys.executable, "-m", "gunicorn", application, "--config=config/gunicorn.py"),
        *(f"--bind=127.0.0.1:{port}", "--workers=2", "--threads=4"),
    ]


def _await_port(server: Server) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        server.pids()
        with suppress(OSError), socket.create_connection(("127.0.0.1", server.port), timeout=1):
            return
        time.sleep(0.05)
    raise CannotMeasure(f"a server did not start:\n{server.log.read_text()[-2000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def database_pid() -> int:
    """The process that all of PostgreSQL descends from. Raises CannotMeasure for one elsewhere."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = int(cursor.fetchone()[0])
    try:
        return int(_stat(backend)[1])
    except OSError as error:
        raise CannotMeasure("PostgreSQL does not run on this machine") from error


def database_cpu_seconds(postmaster: int) -> float:
    """CPU time of PostgreSQL so far, of sessions that ended, too."""
    while True:
        ended = _ended_seconds(postmaster)
        spent = sum(map(cpu_seconds, _family(postmaster)))
        if _ended_seconds(postmaster) == ended:  # a session that ends meanwhile is in neither
            return spent + ended


def _ended_seconds(pid: int) -> float:
    ticks = _stat(pid)
    return (int(ticks[13]) + int(ticks[14])) / _TICKS


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _family(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        with suppress(OSError):  # it ended meanwhile
            for task in Path(f"/proc/{parent}/task").glob("*/children"):
                found += map(int, task.read_text().split())
    return found


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far; 0 for one that ended, whose time is its parent's then.

    To the nanosecond where the kernel counts them, by thread; a thread that ended is lost there.
    """
    spent = 0
    try:
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            spent += int(task.read_text().split()[0])
        ticks = _stat(pid)
    except OSError:
        return 0.0
    return max(spent / _NANO, (int(ticks[11]) + int(ticks[12])) / _TICKS)


def _resident_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise CannotMeasure(f"process {pid} has no memory")
