"""Pages for a request that could not be finished: a mistake of ours, or a database that is away."""

from __future__ import annotations

import sys

import structlog
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views import defaults

from common import outages

log = structlog.get_logger(__name__)


def unavailable(_request: HttpRequest, error: BaseException) -> HttpResponse:
    """503. What was sent may have been carried out, which the page says. It asks no database."""
    log.warning("database_unavailable", error=outages.name_of(error))
    response = HttpResponse(loader.render_to_string("503.html"), status=503)
    response["Retry-After"] = str(outages.RETRY_AFTER_SECONDS)
    response["Cache-Control"] = "no-store"
    return response


def nothing_done(_request: HttpRequest) -> HttpResponse:
    """503 for a form that was not looked at, because this process's clock is wrong."""
    response = HttpResponse(loader.render_to_string("503_nothing_done.html"), status=503)
    response["Retry-After"] = str(outages.RETRY_AFTER_SECONDS)
    response["Cache-Control"] = "no-store"
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Whatever no view and no middleware caught: 500, or 503 where the database was lost."""
    error = sys.exc_info()[1]
    if error is not None and outages.is_outage(error):
        return unavailable(request, error)
    return defaults.server_error(request)
