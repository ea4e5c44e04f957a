"""API requests as people see them, and how they narrow the list."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django import forms
from django.db.models import QuerySet

from api.models import ApiRequest
from dashboard.developers.durations import duration_in_words
from dashboard.shell.badges import Badge
from dashboard.shell.filter_forms import FilterForm, either
from tenants.models import ApiKey

_METHODS = ("GET", "POST", "PATCH", "DELETE")
_ANSWERS: dict[str, tuple[str, dict[str, int]]] = {
    "ok": ("Succeeded", {"status__lt": 400}),
    "refused": ("All errors", {"status__gte": 400}),
    "4xx": ("Errors of the caller (4xx)", {"status__gte": 400, "status__lt": 500}),
    "5xx": ("Our errors (5xx)", {"status__gte": 500}),
}


class RequestFilter(FilterForm):
    """What to look for among the requests."""

    answer = either("Answer", [(name, label) for name, (label, _) in _ANSWERS.items()], "Any")
    method = either("Method", [(name, name) for name in _METHODS], "Any")
    key = either("API key", [], "Any")
    path = forms.CharField(
        label="Path contains",
        required=False,
        max_length=300,
        widget=forms.TextInput(attrs={"placeholder": "/payments", "spellcheck": "false"}),
    )
    request_id = forms.CharField(
        label="Request ID",
        required=False,
        max_length=128,
        widget=forms.TextInput(attrs={"placeholder": "X-Request-Id", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, keys: Iterable[ApiKey], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(row.pk, f"{row.name} ({row.prefix}…)") for row in keys]
        self.fields["key"].choices = [("", "Any"), *named]  # type: ignore[attr-defined]  # a ChoiceField

    def apply(self, rows: QuerySet[Any, Any], chosen: dict[str, Any]) -> QuerySet[Any, Any]:
        if answer := chosen.get("answer"):
            rows = rows.filter(**_ANSWERS[answer][1])
        lookups = {"method": "method", "key": "key", "path": "path__contains"}
        lookups["request_id"] = "request_id"
        return rows.filter(
            **{lookups[name]: value for name, value in chosen.items() if name in lookups}
        )


@dataclass(frozen=True)
class RequestLine:
    """One request and how it was answered."""

    id: str
    method: str
    path: str
    query: str
    badge: Badge
    error_code: str
    duration: str
    request_id: str
    idempotency_key: str
    address: str
    key_id: str
    key_name: str
    key_prefix: str
    fields: str
    problem: str
    at: datetime


def request_line(row: ApiRequest) -> RequestLine:
    """`row` with its key."""
    return RequestLine(
        id=row.pk,
        method=row.method,
        path=row.path,
        query=row.query,
        badge=_badge(row.status),
        error_code=row.error_code,
        duration=duration_in_words(row.duration_us),
        request_id=row.request_id,
        idempotency_key=row.idempotency_key,
        address=row.address,
        key_id=row.key_id,
        key_name=row.key.name,
        key_prefix=row.key.prefix,
        fields=_as_text(row.fields),
        problem=_as_text(row.problem),
        at=row.created_at,
    )


def _as_text(document: dict[str, Any] | None) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) if document else ""


def _badge(status: int) -> Badge:
    tone = "good" if status < 400 else "warn" if status < 500 else "bad"
    known = status in {item.value for item in HTTPStatus}
    return Badge(f"{status} {HTTPStatus(status).phrase}" if known else str(status), tone)
