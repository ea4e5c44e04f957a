"""Lines on the terminal: progress, prefixed logs, colors where somebody can see them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PALETTE = {
    "web": 32,
    "worker": 33,
    "beat": 36,
    "dispatcher": 35,
    "bank": 95,
    "receiver": 95,
    "postgres": 34,
    "valkey": 31,
}
GREY = 90
SIGN_OF_LIFE_SECONDS = 5
OUTPUT_BYTES_SHOWN = 4000


def report(text: str) -> None:
    """One progress line, on standard error: standard output belongs to the command."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"ballast: {text}\n")
        sys.stderr.flush()


def run_step(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> bool:
    """Run a long set-up step: a sign of life while it works, its output only if it fails."""
    failure = failure_of(command, environment=environment, folder=folder)
    if failure is None:
        return True
    show(failure)
    return False


def show(output: str) -> None:
    """What a step that failed had to say, the end of it."""
    sys.stderr.write(output)


def failure_of(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> str | None:
    """Run it and show that it is still running. None if it went well, else the end of its output,
    which was not shown."""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        except OSError as problem:
            return f"ballast: {command[0]}: {problem.strerror}\n"
        if _wait_visibly(process) == 0:
            return None
        output.seek(0)
        return output.read()[-OUTPUT_BYTES_SHOWN:].decode(errors="replace")


def _wait_visibly(process: subprocess.Popen[bytes]) -> int:
    begun = time.monotonic()
    while True:
        try:
            return process.wait(SIGN_OF_LIFE_SECONDS)
        except subprocess.TimeoutExpired:
            report(f"  … {time.monotonic() - begun:.0f} s")


def prefixed(name: str, line: str) -> str:
    """A log line with the colored name of who wrote it."""
    if not _has_colors():
        return f"{name:>8} | {line}"
    return f"\x1b[{PALETTE.get(name, GREY)}m{name:>8}\x1b[0m {line}"


def write_line(line: str) -> None:
    """Write to standard output; a terminal that has gone away is no reason to stop working."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def _has_colors() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
