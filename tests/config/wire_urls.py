"""The machinery's views, answers too long for a client that does not read, and a look inside."""

from __future__ import annotations

import gc
from itertools import repeat
from tempfile import TemporaryFile

from django.http import FileResponse, HttpRequest, JsonResponse, StreamingHttpResponse
from django.urls import path

from tests.api import machinery

# Together far more than the system keeps for a client.
BLOCK, BLOCKS = b"x" * 65_536, 1000


def stream(_request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(repeat(BLOCK, BLOCKS), content_type="text/plain")


def file(_request: HttpRequest) -> FileResponse:
    found = TemporaryFile()  # noqa: SIM115  # the response closes it
    found.truncate(len(BLOCK) * BLOCKS)
    return FileResponse(found, content_type="text/plain")


def garbage(_request: HttpRequest) -> JsonResponse:
    """How many objects the collector of this worker never looks at."""
    return JsonResponse({"frozen": gc.get_freeze_count()})


urlpatterns = [
    path("test/stream", stream),
    path("test/file", file),
    path("test/garbage", garbage),
    *machinery.urlpatterns,
]
