"""How a web process sends Django's answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from errno import EPIPE

import structlog
from gunicorn.http import wsgi

log = structlog.get_logger(__name__)


class Answer(wsgi.Response):  # type: ignore[misc]  # gunicorn ships no types
    """gunicorn's answer, which gives up on a client that does not read it."""

    client_seconds = 10

    def write(self, arg: bytes) -> None:
        with self._giving_up_in_time():
            super().write(arg)

    def write_file(self, respiter: wsgi.FileWrapper) -> None:
        self.sock.settimeout(self.client_seconds)  # without one Python's sendfile waits for ever
        with self._giving_up_in_time():
            super().write_file(respiter)
        self.sock.settimeout(None)

    @contextmanager
    def _giving_up_in_time(self) -> Iterator[None]:
        """Raises BrokenPipeError, which gunicorn treats like a client that left."""
        try:
            yield
        except (BlockingIOError, TimeoutError) as error:
            log.warning("client_does_not_read", sent=self.sent)
            raise BrokenPipeError(EPIPE, "The client does not read.") from error


def install(*, client_seconds: int) -> None:
    """Make gunicorn answer with `Answer`. gunicorn has no setting for that."""
    Answer.client_seconds = client_seconds
    wsgi.Response = Answer
