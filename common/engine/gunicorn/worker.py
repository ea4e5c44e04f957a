"""gunicorn's threaded worker, changed so that no thread waits for a client to send something."""

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
from common.engine.gunicorn.connections import RECEIVED_AT_ONCE, Connection, limit_silence
from common.engine.gunicorn.received import TooMuchAtOnce

log = structlog.get_logger(__name__)

# Bytes of requests that a process holds, and what each connection may hold beyond them.
HELD_BYTES_MAX = 64 * 1024 * 1024
_HELD_BY_EACH = 128 * 1024
_GOODBYE_SECONDS = 2.0
_LINGER_SECONDS = 2.0
_BETWEEN_LOOKS_SECONDS = 0.25


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn ships no types
    """Receives requests in the poller, and gives a thread only what is there in whole.

    gunicorn would read heads and bodies in a thread, and wait for the client's close in the only
    thread that accepts connections. A request must have arrived within `client_seconds` of its
    first byte, and sending an answer must make progress within them. At most `body_bytes_max` of a
    body are received: whoever reads on meets its end.
    """

    client_seconds = 10
    body_bytes_max = 2_621_440

    def init_process(self) -> None:
        self._waiting: set[Connection] = set()
        self._held = 0
        self._looked = self._stopping = 0.0
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
        conn = Connection(*given, body_bytes_max=self.body_bytes_max)
        self._wait(conn, self._receive, seconds=self.cfg.keepalive)

    def on_client_socket_readable(self, conn: Any, client: socket) -> None:
        """A request begins on a connection that was kept alive."""
        self.keepalived_conns.remove(conn)
        self._waiting.add(conn)
        self._receive(conn, client)
        if conn in self._waiting:
            self.poller.modify(client, EVENT_READ, partial(self._receive, conn))

    def finish_request(self, conn: Any, fs: Future[Any]) -> None:
        self._hold(conn, 0)
        if fs.cancelled() or fs.exception():
            super().finish_request(conn, fs)
        elif fs.result():
            self._await_next(conn, fs)
        else:
            self._say_goodbye(conn)

    def murder_pending(self) -> None:
        """End what takes too long. gunicorn calls it after whatever happens, so it looks now and
        then."""
        now = time.monotonic()
        if now < self._looked + _BETWEEN_LOOKS_SECONDS:
            return
        self._looked = now
        if not (self.alive or self._stopping):
            self._stopping = now
        is_over = bool(self._stopping) and now > self._stopping + _LINGER_SECONDS
        for conn in [each for each in self._waiting if is_over or each.timeout < now]:
            self._stop_waiting(conn)
            if conn.parser.has_head() and not is_over:
                self.enqueue_req(conn)  # it answers that the body broke off
            else:
                self._close(conn)

    def _receive(self, conn: Connection, client: socket) -> None:
        data = conn.receive()
        if data is None:
            return
        if data and not conn.held:
            conn.timeout = time.monotonic() + self.client_seconds
        self._hold(conn, conn.held + len(data))
        if self._is_ready(conn) or (not data and conn.parser.has_head()):
            self._stop_waiting(conn)
            self.enqueue_req(conn)
        elif not data:
            self._stop_waiting(conn)
            self._close(conn)

    def _is_ready(self, conn: Connection) -> bool:
        """Whether a thread can answer: there is a request, or too much of one."""
        if conn.parser.has_request():
            return True
        if self._held > HELD_BYTES_MAX and conn.held > _HELD_BY_EACH:
            conn.parser.refuse(TooMuchAtOnce())
            return True
        conn.tell_to_continue()
        return False

    def _await_next(self, conn: Connection, fs: Future[Any]) -> None:
        """The client may have sent some of its next request already."""
        conn.received.put_back()
        self._hold(conn, len(conn.received.ahead))
        if not conn.held:
            super().finish_request(conn, fs)
        elif self._is_ready(conn):
            self.enqueue_req(conn)
        else:
            self._wait(conn, self._receive, seconds=self.client_seconds)

    def _say_goodbye(self, conn: Connection) -> None:
        conn.received.forget()
        try:
            conn.sock.shutdown(SHUT_WR)
        except OSError:
            self._close(conn)
        else:
            self._wait(conn, self._drain, seconds=_GOODBYE_SECONDS)

    def _wait(
        self, conn: Connection, call: Callable[[Connection, socket], None], *, seconds: float
    ) -> None:
        """Have the poller run `call` when the client sends something; `murder_pending` ends the
        wait."""
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + seconds
        self._waiting.add(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(call, conn))

    def _stop_waiting(self, conn: Connection) -> None:
        self._waiting.discard(conn)
        self.poller.unregister(conn.sock)

    def _drain(self, conn: Connection, client: socket) -> None:
        """Read what is left. A close with unread bytes would make the client lose the answer (RFC
        9112, 9.6)."""
        try:
            if client.recv(RECEIVED_AT_ONCE):
                return
        except OSError:
            log.debug("client_left")
        self._stop_waiting(conn)
        self._close(conn)

    def _hold(self, conn: Connection, count: int) -> None:
        """Note how many bytes of it are in memory."""
        self._held += count - conn.held
        conn.held = count

    def _close(self, conn: Connection) -> None:
        self._hold(conn, 0)
        self.nr_conns -= 1
        conn.close()
