"""Answers requests that never reach Django with a problem document instead of gunicorn's HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from socket import socket

import structlog
from gunicorn.http.errors import (
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
)
from gunicorn.util import write_nonblock

from api import errors, problems
from common import ids
from common.engine.gunicorn.received import TooMuchAtOnce
from common.errors import DomainError
from config.headers import NO_CONTENT, PERMISSIONS_POLICY

log = structlog.get_logger(__name__)


class NotOneHost(ParseException):  # type: ignore[misc]  # gunicorn ships no types
    """No Host header, or more than one. HTTP/1.1 wants exactly one (RFC 9112, 3.2)."""


class ManyIdempotencyKeys(ParseException):  # type: ignore[misc]  # gunicorn ships no types
    """More than one Idempotency-Key header.

    WSGI would join them into a key that nobody sent, and a proxy that adds its own to each try
    would make each try run. It cannot be told later, because a single key may contain a comma.
    """


def require_clear_headers(version: tuple[int, int], headers: Sequence[tuple[str, str]]) -> None:
    """Raises NotOneHost, ManyIdempotencyKeys. gunicorn gives the names in capitals."""
    seen = Counter(name for name, _ in headers)
    if seen["HOST"] > 1 or (seen["HOST"] == 0 and version >= (1, 1)):
        raise NotOneHost
    if seen["IDEMPOTENCY-KEY"] > 1:
        raise ManyIdempotencyKeys


def refuse(client: socket, exc: Exception) -> None:
    """Log what happened and tell the client, if it is still there.

    gunicorn's own warning would repeat the offending header, which may hold a key.
    """
    request_id = ids.new_request_id()
    with structlog.contextvars.bound_contextvars(request_id=request_id):
        if _is_clients_fault(exc):
            log.warning("malformed_request", error=type(exc).__name__)
        else:
            log.error("request_not_served", exc_info=exc)
        answer = answer_to(exc, request_id)
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
    if isinstance(exc, NotOneHost):
        return errors.MalformedRequest("A request needs one Host header.")
    if isinstance(exc, ManyIdempotencyKeys):
        return errors.InvalidIdempotencyKey(
            "There is more than one Idempotency-Key header. If you sent one, a proxy added another."
        )
    if isinstance(exc, TooMuchAtOnce):
        return errors.TemporarilyUnavailable("Too many long requests arrive at once.")
    if isinstance(exc, LimitRequestLine):
        return errors.MalformedRequest("The address is too long.")
    if isinstance(exc, LimitRequestHeaders):
        return errors.MalformedRequest("The headers are too long or too many.")
    return errors.MalformedRequest("This is not well-formed HTTP/1.1.")


def answer_to(exc: Exception, request_id: str) -> bytes:
    """A problem document with its head."""
    response = problems.response(_refusal(exc))
    headers = {
        **response.headers,
        "X-Request-Id": request_id,
        "Content-Security-Policy": NO_CONTENT,
        "Permissions-Policy": PERMISSIONS_POLICY,
        "Connection": "close",
    }
    head = [f"HTTP/1.1 {response.status_code} {response.reason_phrase}"]
    head += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + response.content
