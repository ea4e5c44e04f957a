"""Middleware that pages need and the API does not: a key opens it, never a cookie. Also counts
requests.

Under `/api/v1/` these let requests through untouched. In all else each does what its original does,
and passes for it in Django's own checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from csp import middleware as csp
from django.conf import settings
from django.contrib.auth import SESSION_KEY, logout
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
from api.middleware import INTERFACE, is_api
from common import crypto, drift
from common.clock import utc_now
from common.database import outages
from common.key_ring import KeyServiceAway
from dashboard.shell import broken
from tenants import proofs, session_life
from tenants.session_store import SessionStore

_READING = {"GET", "HEAD", "OPTIONS", "TRACE"}
_CLOCK = "the clock of this server is being set right"


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
    """Loads and saves the session, which the database knows by a digest of the cookie only."""

    def process_request(self, request: HttpRequest) -> None:
        request.session = SessionStore.of_cookie(request.COOKIES.get(settings.SESSION_COOKIE_NAME))

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        answer = super().process_response(request, response)
        cookie = answer.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie is not None and cookie.value:
            session = cast(SessionStore, request.session)
            answer.cookies[settings.SESSION_COOKIE_NAME] = str(session.secret)
        proofs.give_token(request, answer)
        return answer


class Authentication(_ForPages, auth.AuthenticationMiddleware):
    """Sets `request.user`; ends a session that is too old or was not used for too long."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            self._end_or_note_use(request)

    def _end_or_note_use(self, request: HttpRequest) -> None:
        now = utc_now()
        if SESSION_KEY not in request.session or not request.user.is_authenticated:
            return
        if session_life.is_over(request.session, is_staff=request.user.is_staff, now=now):
            logout(request)
        elif request.method != "GET" or "HX-Request" not in request.headers:
            # What a page asks for by itself every few seconds is nobody's use of it.
            session_life.note_use(request.session, now=now)


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
        if isinstance(error, crypto.UnknownKey | KeyServiceAway):
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
