"""Connections of a web process: what the poller knows of each."""

from __future__ import annotations

from contextlib import suppress
from socket import SO_SNDTIMEO, SOL_SOCKET, socket
from struct import pack
from typing import Any

from gunicorn.workers.gthread import TConn

from common.engine.gunicorn.received import EarlyParser, Received

RECEIVED_AT_ONCE = 65_536


def limit_silence(listener: socket, *, seconds: int) -> None:
    """Bound each write to the connections that this listener accepts."""
    listener.setsockopt(SOL_SOCKET, SO_SNDTIMEO, pack("ll", seconds, 0))


class Connection(TConn):  # type: ignore[misc]  # gunicorn ships no types
    """A connection whose requests are received before a thread has them."""

    def __init__(self, *args: Any, body_bytes_max: int) -> None:
        super().__init__(*args)
        self.received = Received()
        self.parser: EarlyParser = EarlyParser(
            self.cfg, self.received, self.client, body_bytes_max=body_bytes_max
        )
        self.initialized = self.data_ready = True  # a thread has nothing left to wait for
        self.held = 0

    def receive(self) -> bytes | None:
        """Take what has arrived. Empty when the client has closed its side; None when nothing is
        there."""
        try:
            data: bytes = self.sock.recv(RECEIVED_AT_ONCE)
        except BlockingIOError:
            return None
        except OSError:
            return b""
        self.received.take(data)
        return data

    def tell_to_continue(self) -> None:
        """Answer `Expect: 100-continue` while the body is not there."""
        if self.parser.wants_continue():
            with suppress(OSError):  # the client left, which the next read notices
                self.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
