"""The way of the staff's desk to the database: under a login that reads no password, issues no key
and orders no money (decision 0191)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import cast

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import Resolver404, resolve

from common.database import job_doors, jobs

ADDRESS = "/admin/"
# They change the session of whoever asks, which is sign-in's.
_OF_SESSIONS = frozenset({"admin:logout", "desk:view_as", "desk:stop_viewing"})


class DeskLogin:
    """Runs the desk's views under its login. Who asks, and their session, are known before."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _is_of_desk(request.path_info):
            return self.get_response(request)
        bool(request.user.is_authenticated)  # read the person before: their password is not ours
        with job_doors.of(jobs.DESK):
            response = self.get_response(request)
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = _rows(cast("Iterable[bytes]", response.streaming_content))
        return response


def _is_of_desk(path: str) -> bool:
    if not path.startswith(ADDRESS):
        return False
    with suppress(Resolver404):
        return resolve(path).view_name not in _OF_SESSIONS
    return True


def _rows(rows: Iterable[bytes]) -> Iterator[bytes]:
    """Of a download, which is read after the view has returned."""
    with job_doors.of(jobs.DESK):
        yield from rows
