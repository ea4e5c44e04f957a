"""How often a person may ask for pages, and for files, which cost more."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from common.clock import utc_now

WINDOW_SECONDS = 60


@dataclass(frozen=True)
class Pace:
    """A limit per person and minute, over all tenants and sessions; `setting` has the number."""

    name: str
    setting: str

    def wait(self, *, user_id: object) -> int:
        """Count a request; seconds until there may be another one, or 0 if this one may go on."""
        minute, seconds = divmod(int(utc_now().timestamp()), WINDOW_SECONDS)
        count = _counted(f"pace:{self.name}:{user_id}:{minute}")
        return WINDOW_SECONDS - seconds if count > getattr(settings, self.setting) else 0


PAGES = Pace("pages", "PAGES_PER_MINUTE")
FILES = Pace("files", "FILES_PER_MINUTE")


def too_many(request: HttpRequest, *, limit: Pace, seconds: int) -> HttpResponse:
    """429, which says when to try again. It asks no database."""
    is_staff = getattr(request.user, "is_staff", False)
    values = {"seconds": seconds, "is_about_files": limit is FILES, "has_api": not is_staff}
    response = render(request, "dashboard/shell/too_many.html", values, status=429)
    response["Retry-After"] = str(seconds)
    return response


def _counted(name: str) -> int:
    """How many there are with this one. Of several that come first at once, one counts."""
    try:
        return cache.incr(name)
    except ValueError:
        cache.add(name, 1, timeout=2 * WINDOW_SECONDS)
        return 1
