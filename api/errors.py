"""Errors of the API itself: authentication, form and rate of requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from common.errors import DomainError, ErrorKind

STATUS_OF = {
    ErrorKind.INVALID: 400,
    ErrorKind.FORBIDDEN: 403,
    ErrorKind.NOT_FOUND: 404,
    ErrorKind.CONFLICT: 409,
    ErrorKind.RULE: 422,
    ErrorKind.UNAVAILABLE: 503,
}


class ApiError(DomainError):
    """An error with an HTTP status of its own, and perhaps headers."""

    kind = ErrorKind.INVALID
    status: ClassVar[int] = 400

    def __init__(
        self, detail: str, *, headers: Mapping[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(detail, **extra)
        self.headers = dict(headers or {})


def status_of(error: type[DomainError]) -> int:
    """The HTTP status of a refusal."""
    return error.status if issubclass(error, ApiError) else STATUS_OF[error.kind]


class InvalidRequest(ApiError):
    code = "invalid_request"
    title = "Invalid request"
    advice = "Correct the fields listed in `errors` and send the request again."


class UnknownField(ApiError):
    code = "unknown_field"
    title = "Unknown field"
    advice = "Remove the fields listed in `errors`; names are case-sensitive."


class UnknownParameter(ApiError):
    code = "unknown_parameter"
    title = "Unknown query parameter"
    advice = "Remove it: a parameter we do not know would silently be answered with something else."


class MalformedJson(ApiError):
    code = "malformed_json"
    title = "Malformed JSON"
    advice = "Send one UTF-8 JSON object without duplicate keys, NaN or deep nesting."


class MalformedRequest(ApiError):
    code = "malformed_request"
    title = "Malformed HTTP request"
    advice = "Check the Host header, the encoding of the address and the form of the request."


class InvalidCursor(ApiError):
    code = "invalid_cursor"
    title = "Invalid cursor"
    advice = "Use `nextCursor` of the previous page, unchanged, with the same filters."


class InvalidIdempotencyKey(ApiError):
    code = "invalid_idempotency_key"
    title = "Invalid Idempotency-Key"
    advice = "Send 1–255 printable ASCII characters, for example a UUID."


class NotAuthenticated(ApiError):
    code = "not_authenticated"
    title = "No API key"
    advice = "Send `Authorization: Bearer <API key>`."
    status = 401


class InvalidToken(ApiError):
    code = "invalid_token"
    title = "API key not accepted"
    advice = "The key is unknown, expired or revoked. Create a new one in the dashboard."
    status = 401


class InsufficientScope(ApiError):
    code = "insufficient_scope"
    title = "The key may not do this"
    advice = "Use a key that has the scope named in `requiredScope`."
    status = 403


class AddressNotAllowed(ApiError):
    code = "address_not_allowed"
    title = "Address not allowed"
    advice = "Call from a network on this key's allow-list, or change the list."
    status = 403


class HttpsRequired(ApiError):
    code = "https_required"
    title = "Plain http is refused"
    advice = "Call https://, and replace the API key: it was sent where others could read it."
    status = 403


class MethodNotAllowed(ApiError):
    code = "method_not_allowed"
    title = "Method not allowed"
    advice = "Use one of the methods in the `Allow` header."
    status = 405


class IdempotencyInProgress(ApiError):
    code = "idempotency_in_progress"
    title = "The first request with this key is still running"
    advice = "Wait for `Retry-After` seconds and send the same request again."
    status = 409


class PayloadTooLarge(ApiError):
    code = "payload_too_large"
    title = "Body too large"
    advice = "Send at most 64 KiB."
    status = 413


class UnsupportedMediaType(ApiError):
    code = "unsupported_media_type"
    title = "Unsupported media type"
    advice = "Send `Content-Type: application/json`."
    status = 415


class IdempotencyKeyReused(ApiError):
    code = "idempotency_key_reused"
    title = "Idempotency-Key used for another request"
    advice = "Use a new key for each new request; repeat a key only with the identical request."
    status = 422


class RateLimited(ApiError):
    code = "rate_limited"
    title = "Too many requests"
    advice = "Wait for `Retry-After` seconds. Staff can raise the limit of a key."
    status = 429


class InternalError(ApiError):
    code = "internal_error"
    title = "Something broke on our side"
    advice = "Send the request again with the same Idempotency-Key; tell us the `requestId`."
    status = 500


class TemporarilyUnavailable(ApiError):
    code = "temporarily_unavailable"
    title = "Temporarily unavailable"
    advice = "Send the request again after `Retry-After` seconds with the same Idempotency-Key."
    status = 503


def unknown_outcome(method: str | None) -> TemporarilyUnavailable:
    """The error while the database is away. Nobody knows whether a write was stored: its COMMIT may
    have arrived."""
    if method in {"GET", "HEAD"}:
        return TemporarilyUnavailable("The database is busy or restarting.")
    return TemporarilyUnavailable(
        "The database is busy or restarting. Whether this request was carried out is not known:"
        " without an Idempotency-Key, look before you send it again."
    )
