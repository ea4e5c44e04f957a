"""gunicorn's threaded worker, made to refuse malformed HTTP the way the API refuses all else."""

from __future__ import annotations

from socket import SO_RCVTIMEO, SOL_SOCKET, socket
from struct import pack
from typing import Any

import structlog
from gunicorn.http.errors import (
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
)
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import ThreadWorker

from api import errors, problems
from common import ids
from common.errors import DomainError
from config.env import count

log = structlog.get_logger(__name__)

# An idle client gives its thread back after this long; a proxy in front should buffer bodies.
_READ_TIMEOUT = pack("ll", count("WEB_READ_TIMEOUT_SECONDS", default=10, minimum=1), 0)


class ApiWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn ships no types
    """Answers requests that never reach Django with a problem document instead of HTML.

    gunicorn's own warning would also repeat the offending header, which may hold a key.
    """

    def init_process(self) -> None:
        for listener in self.sockets:  # what is accepted inherits it
            listener.sock.setsockopt(SOL_SOCKET, SO_RCVTIMEO, _READ_TIMEOUT)
        super().init_process()

    def handle_error(self, req: Any, client: socket, addr: Any, exc: Exception) -> None:
        request_id = ids.new_request_id()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            if _is_clients_fault(exc):
                log.warning("malformed_request", error=type(exc).__name__)
            else:
                log.error("request_not_served", exc_info=exc)
            answer = _bytes_of(_refusal(exc), request_id)
        try:
            write_nonblock(client, answer)
        except OSError:
            log.debug("client_left", request_id=request_id)


def _is_clients_fault(exc: Exception) -> bool:
    ours = isinstance(exc, InvalidResponseHeader | InvalidResponseHeaderName)
    return isinstance(exc, ParseException) and not ours


def _refusal(exc: Exception) -> DomainError:
    if not _is_clients_fault(exc):
        return errors.InternalError("The error was recorded.")
    if isinstance(exc, LimitRequestLine):
        return errors.MalformedRequest("The address is too long.")
    if isinstance(exc, LimitRequestHeaders):
        return errors.MalformedRequest("The headers are too long or too many.")
    return errors.MalformedRequest("This is not well-formed HTTP/1.1.")


def _bytes_of(refusal: DomainError, request_id: str) -> bytes:
    response = problems.response(refusal)
    headers = {
        **response.headers,
        "X-Request-Id": request_id,
        "Connection": "close",
    }
    head = [f"HTTP/1.1 {response.status_code} {response.reason_phrase}"]
    head += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + response.content
