"""The product under its real web server, and a client that may say anything on the wire."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devstack.paths import ROOT
from devstack.processes import Child, Program
from tests.database import owner
from tests.scenarios.product import wait_until
from tests.servers import free_port

# Short, so that a test of a client that stalls does not wait long.
READ_TIMEOUT_SECONDS = 1
# For an orderly stop, however busy the machine.
STOP_SECONDS = 30


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class WireServer:
    """gunicorn with the product's own configuration, on the test database."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.settings = settings
        self.log = folder / "web.log"
        self.port = free_port()
        self._child = Child(
            Program(
                name="wire",
                command=[sys.executable, "-m", "gunicorn", "--config=config/gunicorn.py",
                         f"--bind=127.0.0.1:{self.port}", "--workers=1", "--threads=4",
                         "config.wsgi:application"],
                environment=self._environment(),
                folder=ROOT,
                log=self.log,
                stop_seconds=STOP_SECONDS,
            )
        )  # fmt: skip
        wait_until(self._is_up, seconds=60)

    def stop(self) -> None:
        self._child.kill_group()

    def end(self) -> bool:
        """Stop it the orderly way. False when it had to be killed after `STOP_SECONDS`."""
        return self._child.stop()

    def resident_mib(self) -> float:
        """Memory of its only worker."""
        parent = self._child.process.pid
        (worker,) = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        pages = int(Path(f"/proc/{worker}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2

    def open(self, raw: bytes, *, receive_buffer: int = 0) -> socket.socket:
        """A connection on which these bytes were sent; the caller closes it."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.sendall(raw)
        return client

    def send(self, raw: bytes, *, finish: bool = False) -> Answer:
        """What the server answers to these bytes; `finish` closes our side after them."""
        with self.open(raw) as client:
            if finish:
                client.shutdown(socket.SHUT_WR)
            return read_answer(client)

    def request(
        self, head: str, *, body: bytes = b"", key: str = "", host: str = "testserver"
    ) -> Answer:
        """`head` is the request line and further header lines, separated by newlines."""
        lines = [*head.split("\n"), f"Host: {host}", f"Authorization: Bearer {key}"]
        return self.send("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def _is_up(self) -> bool:
        with contextlib.suppress(OSError):
            return self.request("GET /healthz HTTP/1.1\nConnection: close").status == 200
        return False

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.config.wire_settings",
            "DATABASE_URL": owner.address(),
            "ALLOWED_HOSTS": "testserver,127.0.0.1",
            "WEB_READ_TIMEOUT_SECONDS": str(READ_TIMEOUT_SECONDS),
            **self.settings,
        }


def read_to_the_end(client: socket.socket) -> bytes:
    """All that the server says until it closes its side."""
    return b"".join(iter(lambda: client.recv(1 << 20), b""))


def read_answer(client: socket.socket) -> Answer:
    """One answer: its head, and as much body as its Content-Length says."""
    head, body = b"", b""
    while not head.endswith(b"\r\n\r\n"):
        head += _some(client, 1)
    head = head[:-4]
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += _some(client, int(headers["content-length"]) - len(body))
    return Answer(int(first.split()[1]), headers, body)


def has_said_something(client: socket.socket) -> bool:
    """Whether there is an answer to read."""
    return bool(select.select([client], [], [], 0)[0])


def _some(client: socket.socket, count: int) -> bytes:
    data = client.recv(count)
    if not data:
        raise OSError("the server closed the connection")
    return data


@contextlib.contextmanager
def serving(folder: Path, **settings: str) -> Iterator[WireServer]:
    """`settings` are environment names."""
    server = WireServer(folder, **settings)
    try:
        yield server
    finally:
        server.stop()
