"""An HTTP/1.1 load generator that costs little: prepared bytes on kept connections, one thread."""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle

from benchmarks.errors import CannotMeasure

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
ANSWER_SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class Request:
    """One kind of request. `body` makes a new body for each; `status` is the answer that counts."""

    method: str
    path: str
    key: str
    status: int = 200
    body: Callable[[], bytes] | None = None
    headers: Callable[[], str] = field(default=lambda: "")

    def raw(self) -> bytes:
        content = self.body() if self.body else b""
        extra = self.headers()
        if content:
            extra += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        head = (
            f"{self.method} {self.path} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {self.key}\r\nAccept: application/json\r\n{extra}\r\n"
        )
        return head.encode() + content


class Turns:
    """Several requests of one kind, one after the other: each is another tenant's, say."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self.path, self.status = requests[0].path, requests[0].status
        self._next = cycle(requests)

    def raw(self) -> bytes:
        return next(self._next).raw()


@dataclass(frozen=True)
class Load:
    """What was answered, and how long each answer took, in seconds."""

    rate: float
    times: list[float]


class _Connection:
    """One client: a request, its whole answer, the next request."""

    def __init__(self, port: int, request: Request | Turns) -> None:
        self._request = request
        self._received = bytearray()
        self._sent_at = 0.0
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self) -> None:
        self._received.clear()
        self._sent_at = time.perf_counter()
        self.socket.sendall(self._request.raw())

    def receive(self) -> float | None:
        """Seconds the answer took, once it is whole. Raises CannotMeasure for a wrong one."""
        try:
            chunk = self.socket.recv(262_144)
        except OSError as error:
            raise CannotMeasure(f"{self._request.path}: the server hung up") from error
        self._received += chunk
        head, end, body = self._received.partition(b"\r\n\r\n")
        found = _LENGTH.search(head) if end else None
        if chunk and (found is None or len(body) < int(found[1])):
            return None
        if not head.startswith(b"HTTP/1.1 %d " % self._request.status):
            raise CannotMeasure(f"{self._request.path} answered {bytes(self._received[:500])!r}")
        return time.perf_counter() - self._sent_at


def run(port: int, request: Request | Turns, *, connections: int, seconds: float) -> Load:
    """As many requests as `connections` clients get answered. Raises CannotMeasure."""
    with ExitStack() as stack:
        poll = stack.enter_context(selectors.DefaultSelector())
        for _ in range(connections):
            connection = _Connection(port, request)
            stack.enter_context(connection.socket)
            poll.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send()
        return _turn(poll, connections, seconds)


def _turn(poll: selectors.BaseSelector, running: int, seconds: float) -> Load:
    times: list[float] = []
    began = time.perf_counter()
    end = began + seconds
    while running:
        ready = poll.select(ANSWER_SECONDS)
        if not ready:
            raise CannotMeasure(f"no answer within {ANSWER_SECONDS} s")
        for key, _ in ready:
            took = key.data.receive()
            if took is None:
                continue
            times.append(took)
            if time.perf_counter() < end:
                key.data.send()
            else:
                running -= 1
    return Load(rate=len(times) / (time.perf_counter() - began), times=times)
