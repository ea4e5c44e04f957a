"""Connections to one server that stay open, and one exchange over them, bounded in time and bytes.

A connection that was idle is looked at before it is used again: what a server has closed meanwhile
must not make an outcome unknown.
"""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPSConnection
from typing import NamedTuple

from networks.instant.transport.base import TOO_LARGE
from networks.instant.transport.identity import Identity

IDLE_MAX = 16
IDLE_SECONDS_MAX = 30.0
CONNECT_SECONDS = 5.0
_TIMED_OUT, _BROKEN = "timed_out", "line_broken"


class Broken(Exception):
    """No answer that can be used. `cause` is a word."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Answer(NamedTuple):
    status: int
    body: bytes


class Request(NamedTuple):
    method: str
    path: str
    body: bytes | None = None
    content_type: str = ""


class Connections:
    """A pool for one host and port; thread-safe."""

    def __init__(self, host: str, port: int, identity: Identity) -> None:
        self._host, self._port = host, port
        self._identity = identity
        self._context = identity.context()
        self._idle: deque[tuple[float, HTTPSConnection]] = deque(maxlen=IDLE_MAX)

    def exchange(self, request: Request, *, seconds: float, bytes_max: int) -> Answer:
        """Send a request and read its answer within `seconds`, the connecting not counted.

        Raises Broken.
        """
        connection = self._idle_one() or self._opened()
        try:
            with _within(connection, seconds):
                answer, is_reusable = _exchanged(connection, request, bytes_max)
        except BaseException:
            connection.close()
            raise
        if is_reusable:
            self._keep(connection)
        else:
            connection.close()
        return answer

    def close(self) -> None:
        """Close what is idle."""
        while self._idle:
            self._idle.pop()[1].close()

    def _keep(self, connection: HTTPSConnection) -> None:
        if len(self._idle) >= IDLE_MAX:
            connection.close()
        else:
            self._idle.append((time.monotonic(), connection))

    def _idle_one(self) -> HTTPSConnection | None:
        """The connection that was used last, if the server still has it."""
        while True:
            try:
                used_at, connection = self._idle.pop()
            except IndexError:
                return None
            if time.monotonic() - used_at < IDLE_SECONDS_MAX and not _is_readable(connection):
                return connection
            connection.close()

    def _opened(self) -> HTTPSConnection:
        """A new connection to the server that we know. Nothing was sent. Raises Broken."""
        connection = HTTPSConnection(
            self._host, self._port, timeout=CONNECT_SECONDS, context=self._context
        )
        try:
            connection.connect()
        except ssl.SSLError:
            raise Broken("tls_failed") from None
        except OSError as error:
            is_late = isinstance(error, TimeoutError)
            raise Broken("connecting_timed_out" if is_late else "unreachable") from None
        if not self._identity.is_known(connection.sock.getpeercert(binary_form=True)):
            connection.close()
            raise Broken("server_unknown")
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def _is_readable(connection: HTTPSConnection) -> bool:
    """Whether something came that nobody asked for: the end, or worse."""
    look = select.poll()
    look.register(connection.sock, select.POLLIN)
    return bool(look.poll(0))


@contextmanager
def _within(connection: HTTPSConnection, seconds: float) -> Iterator[None]:
    """Break the connection when time is up: a server that sends a byte now and then would keep us
    for as long as it likes otherwise. Raises Broken."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        # Not the TLS socket's own, which takes away what another thread is reading with.
        with suppress(OSError):  # it is closed already
            socket.socket.shutdown(line, socket.SHUT_RDWR)

    line = connection.sock
    line.settimeout(seconds)
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, HTTPException, ValueError, Broken) as error:
        if is_late.is_set() or isinstance(error, TimeoutError):
            raise Broken(_TIMED_OUT) from None
        raise error if isinstance(error, Broken) else Broken(_BROKEN) from None
    finally:
        timer.cancel()
    if is_late.is_set():  # what was read may end where the line was broken
        raise Broken(_TIMED_OUT)


def _exchanged(
    connection: HTTPSConnection, request: Request, bytes_max: int
) -> tuple[Answer, bool]:
    headers = {"Accept-Encoding": "identity"}
    if request.content_type:
        headers["Content-Type"] = request.content_type
    connection.request(request.method, request.path, body=request.body, headers=headers)
    with connection.getresponse() as response:
        body = response.read(bytes_max + 1)
        if len(body) > bytes_max:
            raise Broken(TOO_LARGE)
        if response.length:  # the library takes a body that was cut short for a whole one
            raise Broken(_BROKEN)
        return Answer(response.status, body), not response.will_close
