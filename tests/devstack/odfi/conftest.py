"""A bank as a process of its own, and a customer who signs in by SFTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from devstack.odfi import client
from devstack.paths import ROOT

WAIT_SECONDS = 30
START = "2035-12-03T14:00:00+00:00"  # Monday, 9:00 Eastern


asyncssh.set_log_level("WARNING")


class Bank:
    """A running bank and its customer."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "devstack.odfi", "serve", "--home", str(self.home)]
        (self.home / client.CONNECTION).unlink(missing_ok=True)
        with (self.home.parent / "bank.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--clock", START, *arguments], cwd=ROOT, stdout=log, stderr=log
            )
        self.wait_for(lambda: (self.home / client.CONNECTION).exists())

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(WAIT_SECONDS)

    def wait_for(self, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_true():
            assert self.process is not None
            assert self.process.poll() is None, (self.home.parent / "bank.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def ask(self, command: str, **arguments: Any) -> Any:
        return client.call(self.home, command, **arguments)

    def days(self, number: int) -> None:
        """Let banking days pass."""
        self.ask("clock", banking_days=number)

    def go_to(self, moment: str) -> None:
        """Move the clock to an Eastern time such as `2035-12-04 09:00`."""
        self.ask("clock", to=f"{moment.replace(' ', 'T')}:00-05:00")

    def visit(self, work: Callable[[asyncssh.SFTPClient], Awaitable[Any]], **options: Any) -> Any:
        """Do something in one SFTP session."""
        return asyncio.run(self._visit(work, options))

    async def _visit(
        self, work: Callable[[asyncssh.SFTPClient], Awaitable[Any]], options: dict[str, Any]
    ) -> Any:
        known = client.connection(self.home)
        host_key = asyncssh.import_public_key(known["host_key"])
        signed_in: dict[str, Any] = {
            "host": known["host"],
            "port": known["port"],
            "username": known["username"],
            "client_keys": [known["private_key"]],
            "known_hosts": ([host_key], [], []),
            "config": None,
            "agent_path": None,
            "login_timeout": 10,
        }
        async with (
            asyncssh.connect(**{**signed_in, **options}) as connection,
            connection.start_sftp_client() as sftp,
        ):
            return await work(sftp)

    def deliver(self, name: str, content: bytes) -> None:
        """Write under a temporary name, then rename."""
        self.visit(lambda sftp: _deliver(sftp, name, content))

    def ack(self, name: str) -> list[dict[str, Any]]:
        """The newest acknowledgement of a file, as soon as it is there."""
        self.ask("scan")
        return _lines(self.visit(lambda sftp: _ack(sftp, name)))

    def send(self, content: bytes) -> list[dict[str, Any]]:
        """Deliver a file under a new name and read its acknowledgement."""
        name = f"F{time.monotonic_ns()}.ach"

        async def work(sftp: asyncssh.SFTPClient) -> bytes:
            await _deliver(sftp, name, content)
            await asyncio.to_thread(self.ask, "scan")
            return await _ack(sftp, name)

        return _lines(self.visit(work))

    def names(self, folder: str) -> Any:
        async def work(sftp: asyncssh.SFTPClient) -> list[str]:
            return sorted(str(name) for name in await sftp.listdir(folder) if name[0] != ".")

        return self.visit(work)

    def read(self, folder: str, name: str) -> Any:
        async def work(sftp: asyncssh.SFTPClient) -> bytes:
            async with sftp.open(f"{folder}/{name}", "rb") as file:
                return await file.read()

        return self.visit(work)

    def fetch(self, folder: str = "inbound", *, start: str = "") -> Any:
        """Read all files of a folder and delete them."""

        async def work(sftp: asyncssh.SFTPClient) -> dict[str, Any]:
            found = {}
            for name in sorted(str(each) for each in await sftp.listdir(folder)):
                if name[0] != "." and name.startswith(start):
                    async with sftp.open(f"{folder}/{name}", "rb") as file:
                        found[name] = await file.read()
                    await sftp.remove(f"{folder}/{name}")
            return found

        return self.visit(work)

    def entries(self, **wanted: Any) -> Any:
        return self.ask("book", **wanted)["entries"]

    @property
    def balance(self) -> Any:
        return self.ask("totals")["balance"]


async def _deliver(sftp: asyncssh.SFTPClient, name: str, content: bytes) -> None:
    async with sftp.open(f"outbound/{name}.tmp", "wb") as file:
        await file.write(content)
    await sftp.rename(f"outbound/{name}.tmp", f"outbound/{name}")


async def _ack(sftp: asyncssh.SFTPClient, name: str) -> bytes:
    names = [str(each) for each in await sftp.listdir("ack") if str(each).startswith(f"{name}.")]
    newest = max(names, key=lambda each: int(each.split(".")[-2]))
    async with sftp.open(f"ack/{newest}", "rb") as file:
        return await file.read()


def _lines(content: bytes) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in content.splitlines()]
    assert lines.pop() == {"type": "end", "lines": len(lines) + 1}
    return lines


@contextlib.contextmanager
def a_bank(*arguments: str) -> Iterator[Bank]:
    with tempfile.TemporaryDirectory(prefix="bank-") as folder:
        bank = Bank(Path(folder) / "home")
        bank.home.mkdir()
        bank.start(*arguments)
        try:
            yield bank
        finally:
            sys.stdout.write((bank.home.parent / "bank.log").read_text())
            if bank.process is not None and bank.process.poll() is None:
                bank.end()


@pytest.fixture
def bank() -> Iterator[Bank]:
    """A bank of its own for one test."""
    with a_bank() as running:
        yield running


@pytest.fixture(scope="module")
def shared() -> Iterator[Bank]:
    """One bank for the tests of a module that do not mind each other."""
    with a_bank() as running:
        yield running
