"""A wider content security policy for the admin: its skin (django-unfold) brings Alpine.js."""

from __future__ import annotations

from collections.abc import Callable

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.http import HttpRequest, HttpResponse

_ADMIN = {"script-src": [SELF, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}


class AdminPolicyMiddleware:
    """Widens the policy under `/admin/`, nowhere else."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path.startswith("/admin/"):
            response._csp_replace = _ADMIN  # type: ignore[attr-defined]  # django-csp's own hook
        return response
