"""What every request gets, before any view: an id, a size limit, and JSON errors under `/api/`."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from api import errors, problems
from common.errors import DomainError, NotFound

GetResponse = Callable[[HttpRequest], HttpResponse]

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


def is_api(request: HttpRequest) -> bool:
    """Whether the answer must be JSON, errors included."""
    return request.path_info.startswith("/api/v1/")


class RequestIdMiddleware:
    """Takes the caller's `X-Request-Id` or makes one; returns it and puts it on every log line."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        # django-structlog reads the header again when it binds its own context.
        request.META["HTTP_X_REQUEST_ID"] = request_id
        structlog.contextvars.bind_contextvars(request_id=request_id)
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response


class ApiErrorMiddleware:
    """Turns errors made outside our views (bad Host, unknown path, a bug) into problem JSON."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        foreign = response.status_code >= 400 and "json" not in response.get("Content-Type", "")
        if is_api(request) and foreign:
            return problems.response(_problem_of(response.status_code))
        return response


class BodyLimitMiddleware:
    """Reads at most 64 KiB of an API request's body; more is refused before it is held."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_api(request):
            limit = settings.API_BODY_BYTES_MAX
            if _declared_length(request) > limit or len(body := request.read(limit + 1)) > limit:
                return problems.response(
                    errors.PayloadTooLarge(f"The body is larger than {limit} bytes.")
                )
            request._body = body  # where HttpRequest.body keeps it
        return self.get_response(request)


def _declared_length(request: HttpRequest) -> int:
    text = request.headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _problem_of(status: int) -> DomainError:
    if status == 404:
        return NotFound("There is no such path.")
    if status < 500:
        return errors.MalformedRequest("The request could not be read.")
    return errors.InternalError("The error was recorded.")
