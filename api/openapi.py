"""What holds for every operation of the reference: errors, idempotency, request ids.

Written into the generated OpenAPI document in one place instead of at every view.
"""

from __future__ import annotations

from typing import Any

from api import problems
from api.errors import status_of
from common.errors import DomainError

Document = dict[str, Any]

_WRITES = ("post", "patch", "delete")

PROBLEM_SCHEMA: Document = {
    "type": "object",
    "description": "RFC 9457. Switch on `code`; each has a section in the error reference.",
    "required": ["type", "title", "status", "detail", "code", "requestId", "errors"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "requestId": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "code", "message"],
                "properties": {name: {"type": "string"} for name in ("field", "code", "message")},
            },
        },
    },
    "additionalProperties": True,
}

IDEMPOTENCY_KEY: Document = {
    "in": "header",
    "name": "Idempotency-Key",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "The same key with the same request gets the first answer again, for 30 days.",
}

_MEANING = {
    400: "Malformed or invalid input.",
    401: "No API key, or not a valid one.",
    403: "The key may not do this, or the tenant is suspended.",
    404: "Not there, or another tenant's.",
    409: "Not in this state, exists already, or the first request still runs.",
    413: "The body is larger than 64 KiB.",
    415: "Not `application/json`.",
    422: "A business rule, or the idempotency key was used for another request.",
    429: "Too many requests.",
    500: "A bug of ours.",
    503: "Busy or restarting.",
}


def describe_conventions(result: Document, **_generator: Any) -> Document:
    """drf-spectacular's postprocessing hook."""
    components = result["components"]
    components["schemas"]["Problem"] = PROBLEM_SCHEMA
    components["responses"] = {f"Problem{status}": _answer(status) for status in _MEANING}
    components["headers"] = {"RateLimit": _header("What is left of this key's rate limit.")}
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            _describe(path, method, operation)
    return result


def _describe(path: str, method: str, operation: Document) -> None:
    if method in _WRITES:
        operation["parameters"] = [*operation.get("parameters", []), IDEMPOTENCY_KEY]
    statuses = {401, 403, 429, 500, 503}
    if "{" in path:
        statuses |= {404}
    if operation.get("parameters"):
        statuses |= {400}
    if method in _WRITES:
        statuses |= {409, 422}
    if "requestBody" in operation:
        statuses |= {413, 415}
    for status in sorted(statuses):
        reference = {"$ref": f"#/components/responses/Problem{status}"}
        operation["responses"].setdefault(str(status), reference)


def _answer(status: int) -> Document:
    """One answer with an example for each of its codes."""
    refusals = [item for item in DomainError.registry.values() if status_of(item) == status]
    return {
        "description": _MEANING[status],
        "headers": {"RateLimit": {"$ref": "#/components/headers/RateLimit"}},
        "content": {
            problems.CONTENT_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {
                    refusal.code: {"summary": refusal.advice, "value": _example(refusal)}
                    for refusal in sorted(refusals, key=lambda item: item.code)
                },
            }
        },
    }


def _header(description: str) -> Document:
    return {"description": description, "schema": {"type": "string"}}


def _example(refusal: type[DomainError]) -> Document:
    return {
        "type": f"https://ballast.example/docs/errors#{refusal.code}",
        "title": refusal.title,
        "status": status_of(refusal),
        "detail": refusal.title + ".",
        "code": refusal.code,
        "requestId": "5d3a0f6c0c7b4c1e9f5e8a4a2f1b7c6d",
        "errors": [],
    }
