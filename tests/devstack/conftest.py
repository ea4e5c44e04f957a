"""A copy of the stack in a folder of its own, run as a separate process."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path

import pytest

from devstack import copies
from devstack.paths import JOB_ROLES, ROOT, Profile

WAIT_SECONDS = 120


class Stack:
    """A stand-in copy: `start()` it, poke at it, see what it leaves behind."""

    def __init__(self, state: Path, *, run_as: Sequence[str] = ()) -> None:
        self.state = state
        self.run_as = run_as
        self.profile = Profile("dev", state / "dev")
        self.port = copies.free_port()
        self.output = state / "output.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in {"DATABASE_URL", "DATABASE_API_URL", "DATABASE_OWNER_URL", "REDIS_URL"}
            and name not in JOB_ROLES
            and not name.startswith(("BALLAST_", "PYTEST_"))
        }
        return inherited | {"BALLAST_STATE_DIR": str(self.state)}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                self.command(), cwd=ROOT, env=self.environment, stdout=output, stderr=output
            )
        self.wait_for(self.is_up)

    def command(self) -> list[str]:
        return [*self.run_as, sys.executable, "-m", "tests.devstack.standin", str(self.port)]

    def run_again(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(),
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )

    def is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.output.read_text()
        return self.answers() and "Ctrl-C stops it" in self.output.read_text()

    def answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.address}/healthz", timeout=2).close()
        except OSError:
            return False
        return True

    def end(self, number: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(WAIT_SECONDS)

    def processes(self, *, but: Container[int] = ()) -> dict[int, str]:
        """Every other living process that works in our folder: servers, backends, programs."""
        found = {}
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and int(entry.name) not in but and self._is_ours(entry):
                    found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
        return found

    def _is_ours(self, entry: Path) -> bool:
        return Path(os.readlink(entry / "cwd")).is_relative_to(self.state)

    def pid_of(self, text: str) -> int:
        return min(pid for pid, command in self.processes().items() if text in command)

    def owner(self) -> dict[str, object]:
        note: dict[str, object] = json.loads((self.profile.home / "owner.lock").read_text())
        return note

    def wait_for(self, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_true():
            assert time.monotonic() < deadline, self.output.read_text()
            time.sleep(0.05)


@pytest.fixture
def state() -> Iterator[Path]:
    """A folder the servers' account can enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="ballast-test-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def stack(state: Path) -> Iterator[Stack]:
    stack = Stack(state)
    yield stack
    if stack.process is not None and stack.process.poll() is None:
        stack.end(signal.SIGTERM)
    stack.wait_for(lambda: not stack.processes())
