"""What a page behind a secret address needs: no script, cache or referrer, its own CSRF rule."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable

from csp.constants import NONE
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.shortcuts import render
from django.utils.decorators import decorator_from_middleware
from django.views.decorators.csrf import csrf_exempt

from common.clock import utc_now
from dashboard.shell.content_policy import with_policy

POSTS_PER_MINUTE = 120

View = Callable[..., HttpResponse]


class TokenCsrfMiddleware(CsrfViewMiddleware):
    """Django's check for pages with `Referrer-Policy: no-referrer`.

    From such a page browsers send `Origin: null`, or no Origin, and no Referer, which Django takes
    for a foreign site. The secret pair of cookie and form token is still demanded, and whoever
    names another site is still refused.
    """

    def _origin_verified(self, request: HttpRequest) -> bool:
        if request.META["HTTP_ORIGIN"] == "null":
            return True
        return bool(super()._origin_verified(request))  # type: ignore[misc]  # private in Django

    def _check_referer(self, request: HttpRequest) -> None:
        if request.META.get("HTTP_REFERER"):
            super()._check_referer(request)  # type: ignore[misc]


def magic_link_page(view: View) -> Callable[..., HttpResponseBase]:
    """A page that its address alone opens. Posts are limited per address and minute."""
    protected = decorator_from_middleware(TokenCsrfMiddleware)(view)

    @functools.wraps(view)
    def wrapper(request: HttpRequest, token: str) -> HttpResponseBase:
        allowed = request.method != "POST" or _within_pace(token)
        response = protected(request, token) if allowed else _too_many(request)
        response["Cache-Control"] = "no-store"
        response["Referrer-Policy"] = "no-referrer"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return with_policy(response, {"script-src": [NONE], "connect-src": [NONE]})

    return csrf_exempt(wrapper)  # the global check steps aside for the one above


def _within_pace(token: str) -> bool:
    minute = int(utc_now().timestamp()) // 60
    name = f"magic-link:{hashlib.sha256(token.encode()).hexdigest()}:{minute}"
    cache.add(name, 0, timeout=120)
    try:
        return cache.incr(name) <= POSTS_PER_MINUTE
    except ValueError:  # Valkey came or went between the two calls
        return True


def _too_many(request: HttpRequest) -> HttpResponse:
    response = render(request, "429.html", status=429)
    response["Retry-After"] = "60"
    return response
