"""`./run test`: pytest with the given arguments, or the whole suite, quick tests first."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, cast

from devstack import chromium, console
from devstack.foreground import exit_code
from devstack.paths import ROOT
from devstack.processes import death_bound

PHASES = (
    ("quick tests", ["-m", "not slow and not browser", "-n", "2"]),
    ("browser and slow tests", ["-m", "slow or browser"]),
)
NO_TESTS = 5
INTERRUPTED = 2
READ_BYTES = 8192


def run(arguments: Sequence[str]) -> int:
    """Run the tests; the exit code is the first failure's."""
    if any("browser" in argument for argument in arguments) or not arguments:
        chromium.ensure()
    if arguments:
        os.execv(sys.executable, [sys.executable, "-m", "pytest", *arguments])
    return _run_phases()


def _run_phases() -> int:
    """Run every phase, then repeat pytest's closing line of each, so that the end tells all."""
    worst, closing_lines = 0, []
    for title, options in PHASES:
        console.write_line(f"\n── {title} ──")
        code, last_line = _pytest(options)
        closing_lines.append(last_line)
        if code not in {0, NO_TESTS}:
            worst = worst or code
        if code == INTERRUPTED:
            break
    console.write_line("\n".join(["", *closing_lines]))
    return worst


def _pytest(options: Sequence[str]) -> tuple[int, str]:
    """Run one phase on this terminal; its exit code and last line."""
    colour = "yes" if sys.stdout.isatty() else "auto"
    command = [sys.executable, "-m", "pytest", f"--color={colour}", *options]
    environment = os.environ | {"COLUMNS": str(shutil.get_terminal_size().columns)}
    process = subprocess.Popen(
        death_bound(command, death_signal=signal.SIGTERM),
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # pytest gets it too, and ends by itself
    last_line = _copy_output(cast("IO[bytes]", process.stdout))
    return exit_code(process.wait()), last_line


def _copy_output(stream: IO[bytes]) -> str:
    """Show the output as it comes; give its last line."""
    tail = b""
    while chunk := os.read(stream.fileno(), READ_BYTES):
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        tail = (tail + chunk)[-READ_BYTES:]
    lines = tail.decode(errors="replace").rstrip().splitlines()
    return lines[-1] if lines else ""
