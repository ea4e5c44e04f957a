"""gunicorn's threaded worker, changed so that no thread waits for a client between requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from selectors import EVENT_READ
from socket import SHUT_WR, socket
from typing import Any

import structlog
from gunicorn.workers.gthread import ThreadWorker

from common.engine.gunicorn import answers
from common.engine.gunicorn.connections import Connection, limit_silence

log = structlog.get_logger(__name__)

_GOODBYE_SECONDS = 2.0
_DRAINED_AT_ONCE = 65_536


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn ships no types
    """Waits in the poller for the first byte of a connection, and for the client to close it.

    gunicorn would wait for the first byte in a thread, and for the close in the only thread that
    accepts connections. A request must have arrived within `client_seconds`, and sending an answer
    must make progress within them.
    """

    client_seconds = 10

    def init_process(self) -> None:
        for listener in self.sockets:
            limit_silence(listener.sock, seconds=self.client_seconds)
        answers.install(client_seconds=self.client_seconds)
        super().init_process()

    def accept(self, listener: Any) -> None:
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # another process was quicker, or the client changed its mind
        self.nr_conns += 1
        given = (self.cfg, client, address, listener.getsockname())
        conn = Connection(*given, client_seconds=self.client_seconds)
        self._park(conn, self.on_pending_socket_readable, seconds=self.cfg.keepalive)

    def finish_request(self, conn: Any, fs: Future[Any]) -> None:
        if fs.cancelled() or fs.exception() or fs.result():
            super().finish_request(conn, fs)
            return
        try:
            conn.sock.shutdown(SHUT_WR)
        except OSError:
            self._close(conn)
        else:
            self._park(conn, self._drain, seconds=_GOODBYE_SECONDS)

    def _park(self, conn: Any, call: Callable[[Any, socket], None], *, seconds: float) -> None:
        """Have the poller run `call` when the client sends something; `murder_pending` ends the
        wait."""
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + seconds
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(call, conn))

    def _drain(self, conn: Any, client: socket) -> None:
        """Read what is left. A close with unread bytes would make the client lose the answer (RFC
        9112, 9.6)."""
        try:
            if client.recv(_DRAINED_AT_ONCE):
                return
        except OSError:
            log.debug("client_left")
        self.poller.unregister(client)
        self.pending_conns.remove(conn)
        self._close(conn)

    def _close(self, conn: Any) -> None:
        self.nr_conns -= 1
        conn.close()
