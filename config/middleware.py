"""Middleware that pages need and the API does not: a key opens it, never a cookie. Also counts
requests.

Under `/api/v1/` these let requests through untouched. In all else each does what its original does,
and passes for it in Django's own checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from csp import middleware as csp
from django.contrib.auth import middleware as auth
from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.exceptions import SessionInterrupted
from django.db import Error as DatabaseProblem
from django.http import HttpRequest, HttpResponse
from django.middleware import gzip
from django_htmx import middleware as htmx
from django_prometheus.middleware import PrometheusAfterMiddleware
from django_prometheus.utils import Time, TimeSince

from api import errors, problems
from api.middleware import is_api
from common import crypto, drift
from common.database import outages
from dashboard.shell import broken

_READING = {"GET", "HEAD", "OPTIONS", "TRACE"}
_CLOCK = "the clock of this server is being set right"
INTERFACE = "/api/v1/"


class _ForPages:
    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(INTERFACE):
            return self.get_response(request)
        try:
            return super().__call__(request)  # type: ignore[misc]  # the class beside this has it
        except (DatabaseProblem, SessionInterrupted) as error:
            outage = outages.behind(error)  # Django calls a session that it cannot save deleted
            if outage is None:
                raise
            return broken.unavailable(request, outage)


class Compression(_ForPages, gzip.GZipMiddleware):
    """Compresses pages to a quarter of their bytes. Decision 0074 says why that reveals no
    secret."""


class ContentSecurityPolicy(_ForPages, csp.CSPMiddleware):
    """Sends what a page may load."""


class Session(_ForPages, sessions.SessionMiddleware):
    """Loads and saves the session."""


class Authentication(_ForPages, auth.AuthenticationMiddleware):
    """Sets `request.user`."""


class Messages(_ForPages, messages.MessageMiddleware):
    """Keeps messages for the next page."""


class Htmx(_ForPages, htmx.HtmxMiddleware):
    """Sets `request.htmx`."""


class RightClock:
    """Refuses changes while this process's clock is wrong: they would be dated, and judged, by it.

    Reads go on. What is refused was not begun, so it may be sent again, also to another process.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method in _READING or not drift.guard.is_adrift():
            return self.get_response(request)
        if is_api(request):
            return problems.response(errors.TemporarilyUnavailable(f"Nothing was done: {_CLOCK}."))
        return broken.nothing_done(request)


class Outages:
    """Answers 503 where a view lost the database, or needs a key that is not here yet.

    `_ForPages` does so for the middleware above, `handler500` for all else.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, crypto.UnknownKey):
            return broken.key_missing(request, error)
        # Django calls a session that it cannot save deleted.
        cause = outages.behind(error) if isinstance(error, UpdateError) else error
        if cause is None:  # it is: in another tab, or by a new password
            raise SessionInterrupted("The session has ended meanwhile.") from error
        return broken.unavailable(request, cause) if outages.is_outage(cause) else None


class RequestMetrics(PrometheusAfterMiddleware):  # type: ignore[misc]  # it ships no types
    """Counts requests by method, answer and view, and measures how long they took.

    The original also counts bytes, charsets and transports, at half of its cost.
    """

    def process_request(self, request: Any) -> None:
        self.metrics.requests_by_method.labels(method=self._method(request)).inc()
        request.prometheus_after_middleware_event = Time()

    def process_view(self, request: Any, *_args: Any, **_kwargs: Any) -> None:
        """Count the view together with its answer."""

    def process_response(self, request: Any, response: Any) -> Any:
        status, method = str(response.status_code), self._method(request)
        view = self._get_view_name(request)
        metrics = self.metrics
        metrics.responses_by_status.labels(status=status).inc()
        metrics.responses_by_status_view_method.labels(
            status=status, view=view, method=method
        ).inc()
        took = TimeSince(request.prometheus_after_middleware_event)
        metrics.requests_latency_by_view_method.labels(view=view, method=method).observe(took)
        return response
