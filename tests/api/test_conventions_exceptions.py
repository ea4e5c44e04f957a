"""What becomes of every exception that may reach the border."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import DataError, IntegrityError, InterfaceError, InternalError, OperationalError
from django.http import Http404
from django.test import RequestFactory
from psycopg.errors import InFailedSqlTransaction, ReadOnlySqlTransaction
from rest_framework import exceptions
from rest_framework.request import Request

from api.exceptions import handle
from common.state import IllegalTransition
from tests.api.machinery import NOTES


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("exception", "status", "code"),
    [
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.UnsupportedMediaType("text/plain"), 415, "unsupported_media_type"),
        (exceptions.ParseError(), 400, "malformed_request"),
        (SuspiciousOperation("x"), 400, "malformed_request"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), 400, "malformed_request"),
        (exceptions.NotFound(), 404, "not_found"),
        (Http404(), 404, "not_found"),
        (PermissionDenied(), 403, "insufficient_scope"),
        (exceptions.PermissionDenied(), 403, "insufficient_scope"),
        (exceptions.ValidationError("no"), 400, "invalid_request"),
        (OperationalError("server closed the connection"), 503, "temporarily_unavailable"),
        (InterfaceError("connection already closed"), 503, "temporarily_unavailable"),
        (
            caused(InternalError(), ReadOnlySqlTransaction()),
            503,
            "temporarily_unavailable",
        ),
        (caused(InternalError(), InFailedSqlTransaction()), 500, "internal_error"),
        (DataError("value too long"), 500, "internal_error"),
        (IntegrityError("duplicate key"), 500, "internal_error"),
        (exceptions.APIException("odd"), 500, "internal_error"),
        (KeyError("x"), 500, "internal_error"),
        (IllegalTransition("not in the reference"), 500, "internal_error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_it_is_a_problem(exception, status, code):
    request = Request(RequestFactory().get("/api/v1/x"))

    response = handle(exception, {"request": request})

    assert response.status_code == status
    assert f'"code": "{code}"' in response.content.decode()
    assert response.has_header("Retry-After") is (status == 503)


def test_errors_of_nested_fields_are_named_by_their_path():
    errors: Any = {
        "recipient": {"routingNumber": ["wrong"]},
        "events": {0: ["unknown"]},
        "message": ["x"],
    }

    response = handle(exceptions.ValidationError(errors), {})

    for field in ("recipient.routingNumber", "events.0", "message"):
        assert f'"field": "{field}"' in response.content.decode()


def test_an_error_of_no_field_is_the_detail():
    response = handle(exceptions.ValidationError({"non_field_errors": ["Pick one."]}), {})

    assert '"detail": "Pick one."' in response.content.decode()


class TestAKeyThatIsNotHereYet:
    """In the middle of a rotation another process encrypted a value with a newer key."""

    def test_is_503_and_not_our_bug(self, acme_api, machinery, settings):
        newer = "k9:" + base64.b64encode(b"9" * 32).decode()
        old = list(settings.ENCRYPTION_KEYS)
        headers = {"Idempotency-Key": "k1"}
        settings.ENCRYPTION_KEYS = [newer, *old]
        first = acme_api.post_json(NOTES, {"amount": 1}, **headers)
        settings.ENCRYPTION_KEYS = old

        answer = acme_api.post_json(NOTES, {"amount": 1}, **headers)

        assert (answer.status_code, answer.json()["code"]) == (503, "temporarily_unavailable")
        assert answer["Retry-After"] == "1"
        settings.ENCRYPTION_KEYS = [*old, newer]
        again = acme_api.post_json(NOTES, {"amount": 1}, **headers)
        assert (again.status_code, again.content) == (201, first.content)
