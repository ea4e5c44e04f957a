"""How a web process sends what Django answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from errno import EPIPE

import structlog
from gunicorn.http import wsgi

from config.gunicorn_connections import CLIENT_SECONDS

log = structlog.get_logger(__name__)


class Answer(wsgi.Response):  # type: ignore[misc]  # gunicorn ships no types
    """Sends head and body in one piece, where the body is one (all but streams are).

    Each call of the system gives the interpreter to another thread, so one less is worth more than
    its own time (decision 0080).
    """

    def write(self, arg: bytes) -> None:
        with self._to_a_client_that_reads():
            if self.headers_sent or self._omits_body or len(arg) != self.response_length:
                super().write(arg)
            else:
                self._write_whole(arg)

    def write_file(self, respiter: wsgi.FileWrapper) -> None:
        self.sock.settimeout(CLIENT_SECONDS)  # without one Python's sendfile waits for ever
        with self._to_a_client_that_reads():
            super().write_file(respiter)
        self.sock.settimeout(None)

    def _write_whole(self, body: bytes) -> None:
        fields = (f"{name}: {value}\r\n" for name, value in self.headers)
        head = "".join([*self.default_headers(), *fields, "\r\n"])
        self.sock.sendall(head.encode("latin-1") + body)
        self.headers_sent, self.sent = True, len(body)

    @contextmanager
    def _to_a_client_that_reads(self) -> Iterator[None]:
        """Raises BrokenPipeError, which gunicorn takes for a client that left."""
        try:
            yield
        except (BlockingIOError, TimeoutError) as error:
            log.warning("client_does_not_read", sent=self.sent)
            raise BrokenPipeError(EPIPE, "The client does not read.") from error


def install() -> None:
    """Make it what gunicorn answers with; there is no setting for that."""
    wsgi.Response = Answer
