"""Middleware that pages need and the interface does not: a key opens it, never a cookie.

Under `/api/v1/` these let requests through untouched. Each is its original in all else, and is
known as one to Django's own checks.
"""

from __future__ import annotations

from typing import Any

from csp import middleware as csp
from django.contrib.auth import middleware as auth
from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.http import HttpRequest
from django.middleware import gzip
from django_htmx import middleware as htmx

INTERFACE = "/api/v1/"


class _ForPages:
    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(INTERFACE):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]  # the class beside this one has it


class Compression(_ForPages, gzip.GZipMiddleware):
    """Pages in a quarter of their bytes; why that tells no secret: decision 0074."""


class ContentSecurityPolicy(_ForPages, csp.CSPMiddleware):
    """What a page may load."""


class Session(_ForPages, sessions.SessionMiddleware):
    """Who is signed in."""


class Authentication(_ForPages, auth.AuthenticationMiddleware):
    """`request.user`."""


class Messages(_ForPages, messages.MessageMiddleware):
    """What the next page says."""


class Htmx(_ForPages, htmx.HtmxMiddleware):
    """`request.htmx`."""
