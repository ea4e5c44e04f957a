"""Run one command on this terminal; it dies with us, and we wait for it to end by itself."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from devstack.processes import death_bound


def run(command: Sequence[str], *, environment: Mapping[str, str], folder: Path) -> int:
    """Run `command` to its end and give its exit code in the shell's way."""
    with started(command, environment=environment, folder=folder) as process:
        return exit_code(process.wait())


@contextlib.contextmanager
def started(
    command: Sequence[str], *, environment: Mapping[str, str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """The command running; our own stop signals are the command's to answer meanwhile.

    The terminal sends Ctrl-C to the command as well; SIGTERM and SIGHUP we pass on.
    """
    process = subprocess.Popen(
        death_bound(command, death_signal=signal.SIGTERM), env=dict(environment), cwd=folder
    )

    def pass_on(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    def leave_to_terminal(_number: int, _frame: FrameType | None) -> None:
        return

    former = {
        signal.SIGINT: signal.signal(signal.SIGINT, leave_to_terminal),
        signal.SIGTERM: signal.signal(signal.SIGTERM, pass_on),
        signal.SIGHUP: signal.signal(signal.SIGHUP, pass_on),
    }
    try:
        yield process
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        if process.poll() is None:
            process.terminate()
            process.wait()


def exit_code(returned: int) -> int:
    return returned if returned >= 0 else 128 - returned
