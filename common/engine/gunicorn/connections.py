"""Connections of a web process; clients must send their requests in time."""

from __future__ import annotations

import time
from socket import SO_RCVTIMEO, SO_SNDTIMEO, SOL_SOCKET, socket
from struct import pack
from typing import Any

from gunicorn.http.errors import NoMoreData
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers.gthread import TConn


def limit_silence(listener: socket, *, seconds: int) -> None:
    """Bound each read and write of the connections that this listener accepts."""
    timeout = pack("ll", seconds, 0)
    listener.setsockopt(SOL_SOCKET, SO_RCVTIMEO, timeout)
    listener.setsockopt(SOL_SOCKET, SO_SNDTIMEO, timeout)


class Connection(TConn):  # type: ignore[misc]  # gunicorn ships no types
    """A connection whose requests must arrive within `client_seconds`, headers and body
    together."""

    def __init__(self, *args: Any, client_seconds: int) -> None:
        super().__init__(*args)
        self.client_seconds = client_seconds

    def init(self) -> None:
        """Start the time limit of the next request. gunicorn calls it before each request."""
        if not self.initialized:
            super().init()
            self.parser.unreader = _Reader(self.sock)
        self.parser.unreader.deadline = time.monotonic() + self.client_seconds


class _Reader(SocketUnreader):  # type: ignore[misc]
    """Reads from the client. A client that is silent or too slow is treated like one that
    disconnected."""

    deadline = 0.0

    def chunk(self, size_hint: int | None = None) -> bytes:
        if time.monotonic() > self.deadline:
            raise NoMoreData
        try:
            data: bytes = super().chunk(size_hint)
        except BlockingIOError as error:
            raise NoMoreData from error
        return data
