"""`/healthz`: the process answers. `/readyz`: it can do its work."""

from __future__ import annotations

from django.contrib.staticfiles.storage import staticfiles_storage
from django.db import Error as DatabaseProblem
from django.db import connection
from django.http import HttpRequest, JsonResponse


def healthz(_request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


def readyz(_request: HttpRequest) -> JsonResponse:
    """503 while PostgreSQL does not answer, and where the pages' files were not collected.

    Valkey is not needed to serve.
    """
    if _lacks_static_files():
        return JsonResponse({"status": "unavailable", "static": "not collected"}, status=503)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseProblem:
        return JsonResponse({"status": "unavailable", "database": "down"}, status=503)
    return JsonResponse({"status": "ok", "database": "ok"})


def _lacks_static_files() -> bool:
    """Without `manage.py collectstatic` every page is an error; development needs none."""
    return getattr(staticfiles_storage, "hashed_files", None) == {}
