"""RFC 9457 problem documents: the one shape of every error under `/api/`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpResponse

from api.errors import ApiError, status_of
from common.errors import DomainError

CONTENT_TYPE = "application/problem+json"


@dataclass(frozen=True)
class FieldError:
    """What is wrong with one field of the request."""

    field: str
    code: str
    message: str


def response(error: DomainError, *, errors: Sequence[FieldError] = ()) -> HttpResponse:
    """The problem document of `error`."""
    status = status_of(type(error))
    if not errors and error.field:
        errors = [FieldError(error.field, error.code, error.detail)]
    body: dict[str, Any] = {
        **{_camel(name): value for name, value in error.extra.items()},
        "type": type_uri(error.code),
        "title": error.title,
        "status": status,
        "detail": error.detail,
        "code": error.code,
        "requestId": structlog.contextvars.get_contextvars().get("request_id", ""),
        "errors": [asdict(item) for item in errors],
    }
    answer = HttpResponse(json.dumps(body), status=status, content_type=CONTENT_TYPE)
    answer["Content-Length"] = str(len(answer.content))  # some are made above CommonMiddleware
    answer["Cache-Control"] = "no-store"
    for name, value in _headers(error, status).items():
        answer[name] = value
    return answer


def type_uri(code: str) -> str:
    """The address of the code's section in the error reference."""
    return f"{settings.BASE_URL}/docs/errors#{code}"


def _headers(error: DomainError, status: int) -> Mapping[str, str]:
    headers = {"Retry-After": "1"} if status == 503 else {}
    return headers | error.headers if isinstance(error, ApiError) else headers


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)
