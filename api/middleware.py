"""What every request passes before any view: an id, a size limit, and JSON errors under `/api/`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BytesIO
from typing import IO, cast
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.db import Error as DatabaseProblem
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    StreamingHttpResponse,
)
from django_structlog.middlewares import RequestMiddleware

from api import errors, parsers, problems, request_log
from api.addresses import came_in_the_clear, client_address
from api.authentication import KEY_HOLDER
from common import ids
from common.database import doors
from common.errors import DomainError, NotFound

GetResponse = Callable[[HttpRequest], HttpResponse]

_READING = {"GET", "HEAD"}
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
# Below it a key opens what there is, never a cookie.
INTERFACE = "/api/v1/"


def is_api(request: HttpRequest) -> bool:
    """Whether errors of this path must be JSON."""
    return request.path_info == "/api" or request.path_info.startswith("/api/")


class RequestIdMiddleware:
    """Takes the caller's `X-Request-Id` or makes one, returns it, and puts it on every log line."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else ids.new_request_id()
        request.META["HTTP_X_REQUEST_ID"] = request_id
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id, ip=client_address(request))
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response


class RequestLineMiddleware(RequestMiddleware):
    """Writes a log line at the end of each request, with the error that broke it.

    RequestIdMiddleware binds what the original binds at the start.
    """

    def prepare(self, request: HttpRequest) -> None:
        """Do nothing: RequestIdMiddleware has bound what the original would bind here."""

    @staticmethod
    def bind_user_id(request: HttpRequest) -> None:
        """Name no user while the database is away; the answer does not change."""
        with suppress(DatabaseProblem):
            RequestMiddleware.bind_user_id(request)


class AuthorityMiddleware:
    """Refuses a request line that names another server than the Host header (RFC 9112 § 3.2.2)."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        target = urlsplit(request.META.get("RAW_URI", ""))
        if target.netloc and target.netloc != request.META.get("HTTP_HOST"):
            return HttpResponseBadRequest("The request names two servers.", "text/plain")
        return self.get_response(request)


class ApiErrorMiddleware:
    """Turns errors made outside our views (bad Host, unknown path, a bug) into problem JSON."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_api(request):
            return self.get_response(request)
        if "\0" in request.path_info:  # PostgreSQL could not even be asked for such an id
            return problems.response(_problem_of(404))
        response = self.get_response(request)
        if response.status_code >= 400 and "json" not in response.get("Content-Type", ""):
            problem = problems.response(_problem_of(response.status_code, request.method))
            for name, value in response.headers.items():  # what other middleware added stays
                problem.headers.setdefault(name, value)
            return problem
        return response


class PlainHttpMiddleware:
    """Refuses what came to the API over plain http. A redirect would let a program go on sending
    its key in the clear without anybody's notice (decision 0183)."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_api(request) and came_in_the_clear(request):
            return problems.response(
                errors.HttpsRequired(
                    f"{errors.HttpsRequired.advice} If you did call https://, whoever runs this"
                    " service must let its proxy set X-Forwarded-Proto."
                )
            )
        return self.get_response(request)


class RequestLogMiddleware:
    """Notes each request of a known key for its tenant to look at (api/request_log.py)."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_api(request):
            return self.get_response(request)
        started = time.perf_counter_ns()
        response = self.get_response(request)
        if holder := request.META.get(KEY_HOLDER):
            took = (time.perf_counter_ns() - started) // 1000
            request_log.note(request, response, holder=holder, duration_us=took)
        return response


class WallMiddleware:
    """Lets requests of keys see the rows of the key's tenant alone (decision 0167).

    The schema and the reference are pages: they know sessions, which that role may not read.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(INTERFACE):
            return self.get_response(request)
        only_reads = request.method in _READING
        with doors.of_api(only_reads=only_reads):
            response = self.get_response(request)
        holder = request.META.get(KEY_HOLDER)
        if holder and isinstance(response, StreamingHttpResponse):
            rows = cast("Iterable[bytes]", response.streaming_content)
            response.streaming_content = doors.streamed(rows, holder.tenant_id)
        return response


class BodyLimitMiddleware:
    """Reads the body of an API request, at most 64 KiB; refuses a larger one without reading on."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_api(request):
            try:
                _read_body(request, settings.API_BODY_BYTES_MAX)
            except DomainError as refusal:
                return problems.response(refusal)
        return self.get_response(request)


def _read_body(request: HttpRequest, limit: int) -> None:
    """Read the whole body to where HttpRequest looks for it.

    Raises PayloadTooLarge, MalformedJson, MalformedRequest.
    """
    declared = _declared_length(request)
    try:
        body = _stream(request).read(limit + 1)
    except Exception as error:  # each server has its own exceptions for a body that breaks off
        raise errors.MalformedRequest("The body could not be read.") from error
    if len(body) > limit:
        raise _too_large(body, limit)
    if declared is not None and len(body) != declared:
        raise errors.MalformedRequest("The body is shorter than its Content-Length.")
    request._body = body
    request._stream = BytesIO(body)
    request.META["CONTENT_LENGTH"] = str(len(body))


def _too_large(beginning: bytes, limit: int) -> DomainError:
    """The first error of a body: it may be malformed before it is too long."""
    if parsers.is_nested_too_deep(beginning.decode("latin-1")):
        return errors.MalformedJson("The body is nested too deep.")
    return errors.PayloadTooLarge(f"The body is larger than {limit} bytes.")


def _declared_length(request: HttpRequest) -> int | None:
    text = str(request.META.get("CONTENT_LENGTH") or "")
    return int(text) if text.isascii() and text.isdigit() else None


def _stream(request: HttpRequest) -> IO[bytes]:
    """What to read from. Django reads nothing without a Content-Length, although a chunked body
    ends by itself."""
    if request.META.get("wsgi.input_terminated") and request.META.get("HTTP_TRANSFER_ENCODING"):
        return cast("IO[bytes]", request.META["wsgi.input"])
    return cast("IO[bytes]", request)


def _problem_of(status: int, method: str | None = "GET") -> DomainError:
    if status == 404:
        return NotFound("There is no such path.")
    if status == errors.TemporarilyUnavailable.status:
        return errors.unknown_outcome(method)
    if status < 500:
        return errors.MalformedRequest("The request could not be read.")
    return errors.InternalError("The error was recorded.")
