"""What a web process does about clients that dawdle: its threads wait for none of them for long."""

from __future__ import annotations

import time
from socket import SO_RCVTIMEO, SO_SNDTIMEO, SOL_SOCKET, socket
from struct import pack

from gunicorn.http.errors import NoMoreData
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers.gthread import TConn

from config.env import count

# A whole request is there after this long, and an answer moves on, or the client loses its thread.
CLIENT_SECONDS = count("WEB_READ_TIMEOUT_SECONDS", default=10, minimum=1)
_SOCKET_TIMEOUT = pack("ll", CLIENT_SECONDS, 0)


def limit_silence(listener: socket) -> None:
    """Bound each read and write of the connections that this listener will accept."""
    listener.setsockopt(SOL_SOCKET, SO_RCVTIMEO, _SOCKET_TIMEOUT)
    listener.setsockopt(SOL_SOCKET, SO_SNDTIMEO, _SOCKET_TIMEOUT)


class Connection(TConn):  # type: ignore[misc]  # gunicorn ships no types
    """A connection whose requests must arrive in time, head and body together."""

    def init(self) -> None:
        """Called before each request of the connection."""
        if not self.initialized:
            super().init()
            self.parser.unreader = _Reader(self.sock)
        self.parser.unreader.deadline = time.monotonic() + CLIENT_SECONDS


class _Reader(SocketUnreader):  # type: ignore[misc]
    """Takes a client that is silent, or drips, for one that broke off."""

    deadline = 0.0

    def chunk(self, size_hint: int | None = None) -> bytes:
        if time.monotonic() > self.deadline:
            raise NoMoreData
        try:
            data: bytes = super().chunk(size_hint)
        except BlockingIOError as error:
            raise NoMoreData from error
        return data
