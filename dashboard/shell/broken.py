"""Pages for a request that could not be finished: a mistake of ours, or a database, a right clock
or an encryption key that is not here at the moment."""

from __future__ import annotations

import sys

import structlog
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views import defaults

from common import crypto
from common.database import outages
from common.key_ring import KeyServiceAway

log = structlog.get_logger(__name__)


def unavailable(_request: HttpRequest, error: BaseException) -> HttpResponse:
    """503. What was sent may have been carried out, which the page says. It asks no database."""
    log.warning("database_unavailable", error=outages.name_of(error))
    return _for_a_moment("503.html")


def key_missing(_request: HttpRequest, error: crypto.UnknownKey | KeyServiceAway) -> HttpResponse:
    """503 for a value that another process encrypted with a key that this one does not know, or
    whose key service is down. What was sent may have been carried out before it was read."""
    log.error("encryption_key_unknown", error=str(error))
    return _for_a_moment("503_key_missing.html")


def nothing_done(_request: HttpRequest) -> HttpResponse:
    """503 for a form that was not looked at, because this process's clock is wrong."""
    return _for_a_moment("503_nothing_done.html")


def server_error(request: HttpRequest) -> HttpResponse:
    """Whatever no view and no middleware caught: 500, or 503 where the database was lost."""
    error = sys.exc_info()[1]
    if error is not None and outages.is_outage(error):
        return unavailable(request, error)
    return defaults.server_error(request)


def _for_a_moment(template: str) -> HttpResponse:
    response = HttpResponse(loader.render_to_string(template), status=503)
    response["Retry-After"] = str(outages.RETRY_AFTER_SECONDS)
    response["Cache-Control"] = "no-store"
    return response
