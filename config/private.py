"""Pages about a person's account are for that person alone."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class AccountPagesMiddleware:
    """Keeps everything under `/accounts/` (codes, keys, sessions) out of every cache."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path.startswith("/accounts/"):
            response["Cache-Control"] = "private, no-store"
        return response
