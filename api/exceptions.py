"""DRF's exception handler: everything a view raises becomes a problem document."""

from __future__ import annotations

from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404, HttpResponse
from rest_framework import exceptions

from api import errors, problems
from api.problems import FieldError
from common import crypto
from common.database import outages
from common.errors import DomainError, NotFound
from common.key_ring import KeyServiceAway

log = structlog.get_logger(__name__)


def handle(exception: Exception, context: dict[str, Any]) -> HttpResponse:
    """The answer to any exception. An unexpected one is logged and becomes a 500."""
    if isinstance(exception, exceptions.ValidationError):
        return _validation_problem(exception)
    if isinstance(exception, DomainError) and exception.is_public:
        return problems.response(exception)
    if outages.is_outage(exception):
        log.warning("database_unavailable", error=outages.name_of(exception))
        return problems.response(errors.unknown_outcome(context["request"].method))
    known = _translate(exception)
    if known is not None:
        return problems.response(known)
    _report(context)
    return problems.response(errors.InternalError("The error was recorded."))


def _report(context: dict[str, Any]) -> None:
    """Send Django's signal of a failed request to its listeners; django-structlog writes the
    traceback."""
    got_request_exception.send(sender=None, request=context["request"]._request)


def _translate(exception: Exception) -> DomainError | None:
    match exception:
        case exceptions.MethodNotAllowed():
            return errors.MethodNotAllowed(
                f"{exception.detail} The Allow header names those that are."
            )
        case exceptions.UnsupportedMediaType():
            return errors.UnsupportedMediaType(
                "Send JSON in UTF-8, with `Content-Type: application/json`."
            )
        case exceptions.ParseError() | SuspiciousOperation() | UnicodeError():
            return errors.MalformedRequest("The request could not be read.")
        case exceptions.NotFound() | Http404():
            return NotFound("There is no such thing here.")
        case PermissionDenied() | exceptions.PermissionDenied():
            return errors.InsufficientScope("This key may not do this.")
        case crypto.UnknownKey() | KeyServiceAway():
            log.error("encryption_key_unknown", error=str(exception))
            return errors.TemporarilyUnavailable("A key that this needs is not here yet.")
    return None


def _validation_problem(exception: exceptions.ValidationError) -> HttpResponse:
    found = list(_flatten(exception.get_full_details()))
    if any(item.code == errors.UnknownField.code for item in found):
        return problems.response(errors.UnknownField("Unknown fields were sent."), errors=found)
    if any(item.code == errors.UnknownParameter.code for item in found):
        return problems.response(
            errors.UnknownParameter("Unknown query parameters were sent."), errors=found
        )
    names = ", ".join(dict.fromkeys(item.field for item in found if item.field))
    detail = f"Check: {names}." if names else found[0].message
    return problems.response(errors.InvalidRequest(detail), errors=found)


def _flatten(details: Any, path: str = "") -> list[FieldError]:
    if isinstance(details, dict) and isinstance(details.get("message"), str):
        return [FieldError(path, str(details["code"]), str(details["message"]))]
    if isinstance(details, list):
        return [error for item in details for error in _flatten(item, path)]
    return [
        error for name, item in details.items() for error in _flatten(item, _join(path, str(name)))
    ]


def _join(path: str, name: str) -> str:
    if name == "non_field_errors":
        return path
    return f"{path}.{name}" if path else name
