"""What holds for every operation of the API reference: errors, idempotency, headers.

It is written into the generated OpenAPI document in one place instead of at every view. A view
names only its own refusals, with `api.schema.refuses`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from api import errors, problems
from api.errors import status_of
from api.idempotency import SHOWN_ONCE
from api.schema import REFUSALS
from common.errors import DomainError, NotFound
from tenants.errors import ReadOnlyMode, TenantSuspended

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
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "pattern": r"^[\x21\x23-\x7e]([\x20\x21\x23-\x7e]*[\x21\x23-\x7e])?$",
    },
    "example": "invoice-7",
    "description": "The same key with the same request gets the first answer again, for 30 days,"
    " byte by byte but for a secret that is shown once.",
}

_TEXT: Document = {"type": "string"}
HEADERS: dict[str, Document] = {
    "X-Request-Id": {
        "description": "The caller's, or one of ours: name it when you ask for help.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"},
    },
    "RateLimit": {"description": "What is left of this key's rate limit.", "schema": _TEXT},
    "RateLimit-Policy": {"description": "The rate limits of this key.", "schema": _TEXT},
    "Idempotent-Replayed": {
        "description": "`true` on an answer given before.",
        "schema": {"type": "string", "const": "true"},
    },
    "Idempotent-Withheld": {
        "description": "The field of `data` that is null on an answer given before, because it is"
        " shown only once.",
        "schema": {"type": "string", "const": SHOWN_ONCE},
    },
    "Location": {"description": "Where the new object is.", "required": True, "schema": _TEXT},
    "Retry-After": {
        "description": "Seconds to wait.",
        "required": True,
        "schema": {"type": "integer", "minimum": 0},
    },
    "WWW-Authenticate": {"description": "RFC 6750.", "required": True, "schema": _TEXT},
    "Deprecation": {
        "description": "RFC 9745: since when this operation is deprecated.",
        "required": True,
        "schema": {"type": "string", "pattern": "^@[0-9]+$"},
    },
    "Sunset": {
        "description": "RFC 8594: when this operation ends, at least a year after its deprecation.",
        "required": True,
        "schema": _TEXT,
    },
}
_OF_DEPRECATED = ("Deprecation", "Sunset")
_ON_EVERY_ANSWER = ("X-Request-Id", "RateLimit", "RateLimit-Policy")
_ALSO_ON = {
    201: ("Location",),
    401: ("WWW-Authenticate",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}

_ALWAYS: tuple[type[DomainError], ...] = (
    errors.MalformedRequest,
    errors.UnknownParameter,
    errors.NotAuthenticated,
    errors.InvalidToken,
    errors.InsufficientScope,
    errors.AddressNotAllowed,
    errors.HttpsRequired,
    TenantSuspended,
    errors.RateLimited,
    errors.InternalError,
    errors.TemporarilyUnavailable,
)
_OF_WRITES = (
    errors.InvalidIdempotencyKey,
    errors.IdempotencyInProgress,
    errors.IdempotencyKeyReused,
    errors.PayloadTooLarge,
    ReadOnlyMode,
)
_OF_FORM: dict[str, tuple[type[DomainError], ...]] = {
    "Read": (),
    "Filter": (errors.InvalidRequest,),
    "List": (errors.InvalidRequest, errors.InvalidCursor),
    "Write": _OF_WRITES,
    "Body": (
        *_OF_WRITES,
        errors.InvalidRequest,
        errors.UnknownField,
        errors.MalformedJson,
        errors.UnsupportedMediaType,
    ),
}

_MEANING = {
    200: "Done.",
    201: "Made.",
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
    components["headers"] = dict(sorted(HEADERS.items()))
    components["examples"], components["responses"] = {}, {}
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            _describe(path, method, operation, components)
    return result


def _describe(path: str, method: str, operation: Document, components: Document) -> None:
    own = {DomainError.registry[code] for code in operation.pop(REFUSALS, [])}
    form = _form(method, operation)
    refusals = own | {*_ALWAYS, *_OF_FORM[form]}
    if "{" in path or "/sandbox/" in path:
        refusals |= {NotFound}
    if method in _WRITES:
        operation["parameters"] = [*operation.get("parameters", []), IDEMPOTENCY_KEY]
    going = _references(_OF_DEPRECATED if operation.get("deprecated") else ())
    for status, answer in operation["responses"].items():
        answer["description"] = answer["description"] or _MEANING[int(status)]
        answer["headers"] = _headers(int(status), method) | going
        if method in _WRITES and _shows_secret(answer, components):
            answer["headers"] |= _references(["Idempotent-Withheld"])
    for refusal in sorted(refusals, key=lambda item: item.code):
        components["examples"].setdefault(refusal.code, _example(refusal))
    for status in sorted({status_of(refusal) for refusal in refusals}):
        found = {refusal for refusal in refusals if status_of(refusal) == status}
        answer = _answer(status, method, sorted(refusal.code for refusal in found))
        if not found & own:
            answer = _shared(answer, f"Problem{status}", found <= {*_ALWAYS} or form, components)
        operation["responses"][str(status)] = answer


def _form(method: str, operation: Document) -> str:
    """The errors that follow from the parts that a request has."""
    queries = {item["name"] for item in operation.get("parameters", []) if item["in"] == "query"}
    if "requestBody" in operation:
        return "Body"
    if method in _WRITES:
        return "Write"
    if "cursor" in queries:
        return "List"
    return "Filter" if queries else "Read"


def _shared(answer: Document, name: str, form: str | bool, components: Document) -> Document:
    """A reference to an error that many operations have."""
    if isinstance(form, str):
        name += form
    components["responses"][name] = answer
    return {"$ref": f"#/components/responses/{name}"}


def _answer(status: int, method: str, codes: list[str]) -> Document:
    """One error status with an example for each of its codes."""
    return {
        "description": _MEANING[status],
        "headers": _headers(status, method),
        "content": {
            problems.CONTENT_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in codes},
            }
        },
    }


def _headers(status: int, method: str) -> Document:
    names = [*_ON_EVERY_ANSWER, *_ALSO_ON.get(status, ())]
    if method in _WRITES and status < 500 and status not in {400, 401, 403, 429}:
        names.append("Idempotent-Replayed")
    return _references(names)


def _shows_secret(answer: Document, components: Document) -> bool:
    """Whether `data` of this answer has the field that is shown only once."""
    content = answer.get("content", {}).get("application/json", {})
    envelope = _properties(content.get("schema", {}), components)
    return SHOWN_ONCE in _properties(envelope.get("data", {}), components)


def _properties(schema: Document, components: Document) -> Document:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Document = components["schemas"].get(name, schema).get("properties", {})
    return found


def _references(names: Iterable[str]) -> Document:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _example(refusal: type[DomainError]) -> Document:
    return {
        "summary": refusal.title,
        "description": refusal.advice,
        "value": {
            "type": f"https://ballast.example/docs/errors#{refusal.code}",
            "title": refusal.title,
            "status": status_of(refusal),
            "detail": refusal.title + ".",
            "code": refusal.code,
            "requestId": "zjjwycwwkcwxmtvfgdrspknd",
            "errors": [],
        },
    }
