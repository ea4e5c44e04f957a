"""gunicorn's threaded worker, whose threads wait for no client that is yet to begin, or done."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from selectors import EVENT_READ
from socket import SHUT_WR, socket
from typing import Any

import structlog
from gunicorn.http.errors import ParseException
from gunicorn.workers.gthread import ThreadWorker

from config import gunicorn_answers
from config.gunicorn_connections import Connection, limit_silence
from config.gunicorn_refusals import refuse, require_clear_headers

log = structlog.get_logger(__name__)

_GOODBYE_SECONDS = 2.0
_DRAINED_AT_ONCE = 65_536


class ApiWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn ships no types
    """Waits in the poller for the first byte of a connection and for the client's end of it.

    gunicorn would wait for the one in a thread, and for the other in the one thread that accepts.
    """

    def init_process(self) -> None:
        for listener in self.sockets:
            limit_silence(listener.sock)
        gunicorn_answers.install()
        super().init_process()

    def accept(self, listener: Any) -> None:
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # another process was quicker, or the client changed its mind
        self.nr_conns += 1
        conn = Connection(self.cfg, client, address, listener.getsockname())
        self._park(conn, self.on_pending_socket_readable, seconds=self.cfg.keepalive)

    def handle_request(self, req: Any, conn: Any) -> bool:
        """Whether the connection stays open. What Django could not see any more is refused here."""
        try:
            require_clear_headers(req.version, req.headers)
        except ParseException as error:
            self.handle_error(req, conn.sock, conn.client, error)
            return False
        return bool(super().handle_request(req, conn))

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
        """Have the poller call when the client says something; `murder_pending` ends the wait."""
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + seconds
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(call, conn))

    def _drain(self, conn: Any, client: socket) -> None:
        """Closing over unread bytes would take the answer back (RFC 9112, 9.6)."""
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

    def handle_error(self, req: Any, client: socket, addr: Any, exc: Exception) -> None:
        refuse(client, exc)
