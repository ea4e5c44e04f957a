"""What can go wrong.

BallastError
├── ApiError           the API said no; switch on `code`
│   ├── InvalidRequest   400
│   ├── Unauthenticated  401
│   ├── Forbidden        403
│   ├── NotFound         404
│   ├── Conflict         409
│   ├── Refused          422, a business rule
│   ├── RateLimited      429, after the retries
│   └── ServerError      5xx, after the retries
├── ConnectionFailed   no answer, after the retries
└── InvalidSignature   a webhook delivery that is not authentic
"""

from __future__ import annotations

from typing import Any


class BallastError(Exception):
    """The base of everything this package raises."""


class ApiError(BallastError):
    """A problem document. `code` is stable and documented; `extra` holds its further members."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.code: str = problem.get("code", "unknown")
        self.detail: str = problem.get("detail", "")
        self.request_id: str = problem.get("requestId", "")
        self.field_errors: list[dict[str, str]] = problem.get("errors", [])
        self.extra = {name: value for name, value in problem.items() if name not in _STANDARD}
        super().__init__(f"{self.code}: {self.detail} (request {self.request_id})")


_STANDARD = {"type", "title", "status", "detail", "code", "requestId", "errors"}


class InvalidRequest(ApiError):
    pass


class Unauthenticated(ApiError):
    pass


class Forbidden(ApiError):
    pass


class NotFound(ApiError):
    pass


class Conflict(ApiError):
    pass


class Refused(ApiError):
    pass


class RateLimited(ApiError):
    pass


class ServerError(ApiError):
    pass


class ConnectionFailed(BallastError):
    """The last try got no answer. A write may have happened: the idempotency key makes it safe
    to call again with the same one."""


class InvalidSignature(BallastError):
    """Do not trust this delivery."""


_BY_STATUS = {
    400: InvalidRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: Refused,
    429: RateLimited,
}


def from_problem(status: int, problem: dict[str, Any]) -> ApiError:
    """The error class for an answer's status."""
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    return kind(status, problem)
