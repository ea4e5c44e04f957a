"""The staff desk shows times as the dashboard does: in the zone of the books (decision 0123)."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from common import days


class DeskZoneMiddleware:
    """Django's lists and forms under `/admin/` show US Eastern times, as all other pages do."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/admin/"):
            return self.get_response(request)
        with timezone.override(days.EASTERN):
            return self.get_response(request)
