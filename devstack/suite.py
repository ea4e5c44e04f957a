"""`./run test`: pytest with the given arguments, or the whole suite, quick tests first. `--quick`:
those of them that an edit waits for. `--nightly`: the whole suite, as thorough as it can be."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import IO, NamedTuple, cast

from devstack import chromium, console
from devstack.foreground import exit_code
from devstack.paths import ROOT
from devstack.processes import death_bound

PYTEST = [sys.executable, "-m", "pytest"]
# One more than there are processors: tests wait for PostgreSQL. Each costs 5 s of CPU to start.
WORKERS = min(1 + (os.cpu_count() or 2), 8)
SHARED_OUT = ["-n", str(WORKERS), "--dist=worksteal"]
# Of the slow tests, those that measure time, or kill processes at a moment: they run one after the
# other, beside nothing else.
ALONE = [
    "tests/config/test_dawdlers.py",
    "tests/config/test_wire.py",
    "tests/races/test_key_timing.py",
    "tests/scenarios",
]
# A quarter of the quick tests and almost half of their time: most edits need not wait for them.
UNHURRIED = [
    f"tests/{name}"
    for name in ("benchmarks", "clients", "dashboard", "desk", "devstack", "races", "seals")
]
QUICK = "not slow and not browser"
SLOW = "slow and not browser"
# What moves money, to be proven on Django's own way through the database as well (decision 0133):
# by day whatever posts it or holds it, at night whatever could lead to that.
POSTING = [
    "tests/balance",
    "tests/invariants",
    *(f"tests/funding/test_{name}.py" for name in (
        "corrections", "deposits", "holds", "late_returns", "lifecycle", "lost_answers",
        "network_events", "returns",
    )),
    *(f"tests/payments/test_{name}.py" for name in (
        "corrections", "holds", "lifecycle", "network_events", "shortage", "waiting",
    )),
    *(f"tests/races/test_{name}.py" for name in (
        "corrections", "holds", "idempotency", "lock_order", "message_sets", "payments", "posting",
        "sets", "topups",
    )),
]  # fmt: skip
MONEY = [f"tests/{name}" for name in ("balance", "funding", "payments", "invariants", "races")]


def _without(paths: Sequence[str]) -> list[str]:
    return [f"--ignore={path}" for path in paths]


class Phase(NamedTuple):
    """A run of pytest, with the environment variables that it needs."""

    title: str
    command: Sequence[str]
    variables: Mapping[str, str] = MappingProxyType({})
    paths_at_night: Sequence[str] = ()

    def at_night(self) -> Phase:
        """With every point and look that CI takes a sample of (decision 0211)."""
        return self._replace(command=[*self.command, *self.paths_at_night, "--nightly"])


AFTER_AN_EDIT = Phase("quick tests", [*PYTEST, *_without(UNHURRIED), "-m", QUICK, *SHARED_OUT])
PHASES = (
    Phase("quick tests", [*PYTEST, "-m", QUICK, *SHARED_OUT]),
    Phase(
        "money tests through Django's own cursor",
        [*PYTEST, *POSTING, "-m", QUICK, *SHARED_OUT],
        {"DATABASE_FAST_PATH": "False"},
        paths_at_night=MONEY,
    ),
    Phase("slow tests", [*PYTEST, *_without(ALONE), "-m", SLOW, *SHARED_OUT]),
    Phase("slow tests that measure time", [*PYTEST, *ALONE, "-m", SLOW]),
    # By themselves: Playwright leaves an event loop running in the thread of the tests after it.
    Phase("browser tests", [*PYTEST, "tests/browser", "-m", "browser", *SHARED_OUT]),
)
NO_TESTS = 5
INTERRUPTED = 2
READ_BYTES = 8192


def run(arguments: Sequence[str]) -> int:
    """Run the tests; the exit code is the first failure's."""
    if list(arguments) == ["--quick"]:
        return run_phases(phases=[AFTER_AN_EDIT])
    is_night = list(arguments) == ["--nightly"]
    if not arguments or is_night or any("browser" in argument for argument in arguments):
        chromium.ensure()
    if is_night:
        return run_phases(phases=[phase.at_night() for phase in PHASES])
    if arguments:
        os.execv(sys.executable, [*PYTEST, *arguments])
    return run_phases()


def run_phases(variables: Mapping[str, str] | None = None, phases: Sequence[Phase] = PHASES) -> int:
    """Run every phase, then repeat pytest's closing line of each, so that the end tells all."""
    first_failure, closing_lines = 0, []
    for phase in phases:
        console.write_line(f"\n── {phase.title} ──")
        code, last_line = _run_shown(phase.command, {**(variables or {}), **phase.variables})
        closing_lines.append(last_line)
        if code not in {0, NO_TESTS}:
            first_failure = first_failure or code
        if code == INTERRUPTED:
            break
    console.write_line("\n".join(["", *closing_lines]))
    return first_failure


def _run_shown(command: Sequence[str], variables: Mapping[str, str]) -> tuple[int, str]:
    """Run one phase on this terminal; its exit code and last line."""
    width = {"COLUMNS": str(shutil.get_terminal_size().columns)}
    environment = {**os.environ, **width, **variables}
    if sys.stdout.isatty():
        environment["FORCE_COLOR"] = "1"
    bound = death_bound(command, death_signal=signal.SIGTERM)
    with (
        _interrupts_left_to_the_command(),
        subprocess.Popen(
            bound, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        ) as process,
    ):
        last_line = _copy_output(cast("IO[bytes]", process.stdout))
        return exit_code(process.wait()), last_line


@contextlib.contextmanager
def _interrupts_left_to_the_command() -> Iterator[None]:
    """Ctrl-C reaches pytest as well, which ends by itself and says so.

    A handler and not SIG_IGN, which pytest would inherit.
    """
    former = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def _copy_output(stream: IO[bytes]) -> str:
    """Show the output as it comes; give its last line."""
    tail = b""
    while chunk := os.read(stream.fileno(), READ_BYTES):
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        tail = (tail + chunk)[-READ_BYTES:]
    lines = tail.decode(errors="replace").rstrip().splitlines()
    return lines[-1] if lines else ""
