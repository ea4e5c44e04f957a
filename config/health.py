"""`/healthz`: the process answers. `/readyz`: it can also do its work."""

from __future__ import annotations

from django.contrib.staticfiles.storage import staticfiles_storage
from django.db import Error as DatabaseProblem
from django.http import HttpRequest, JsonResponse

from common import drift
from common.database import roles
from common.engine import sql

# If either is true every change would be a 503, although the server answers.
_TAKES_CHANGES = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only')"
ROLE_PROBLEMS_SHOWN = 10


def healthz(_request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


def readyz(_request: HttpRequest) -> JsonResponse:
    """503 if PostgreSQL does not answer or takes no changes, if our role lacks a right or is not
    bound by rights, or if the pages' files were not collected.

    Serving does not need Valkey.
    """
    if _lacks_static_files():
        return _unavailable(static="not collected")
    try:
        ((is_standby, read_only),) = sql.rows(_TAKES_CHANGES, {})
    except DatabaseProblem:
        return _unavailable(database="down")
    if is_standby:
        return _unavailable(database="read-only", reason="it is a standby")
    if read_only == "on":
        return _unavailable(database="read-only", reason="default_transaction_read_only is on")
    wrong = roles.problems()
    role = "; ".join(problem.words for problem in wrong[:ROLE_PROBLEMS_SHOWN])
    if not all(problem.is_harmless for problem in wrong):
        return _unavailable(database="ok", role=role)
    if drift.guard.is_adrift():
        return _unavailable(database="ok", clock=drift.guard.reason)
    answer = {"status": "ok", "database": "ok"}
    if wrong:  # a deployment in two steps leaves it so
        answer["role"] = role
    return JsonResponse(answer)


def _unavailable(**why: str) -> JsonResponse:
    return JsonResponse({"status": "unavailable", **why}, status=503)


def _lacks_static_files() -> bool:
    """Whether `collectstatic` has not run, without which every page is an error. Development needs
    none."""
    return getattr(staticfiles_storage, "hashed_files", None) == {}
