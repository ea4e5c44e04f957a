"""Keeps pages about a person's account out of every cache."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class AccountPagesMiddleware:
    """Forbids to cache anything under `/accounts/` (codes, keys, sessions)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path.startswith("/accounts/"):
            response["Cache-Control"] = "private, no-store"
        return response
