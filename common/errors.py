"""Anticipated refusals. Whatever else is raised is a bug and becomes a 500.

DomainError
├── InvalidInput      the caller sent something malformed
├── Forbidden         the caller may not do this
├── NotFound          no such thing for this tenant
├── Conflict          the thing is in another state, or exists already
├── RuleViolation     well formed, but a business rule says no
├── StaffRefusal      a step of staff that is not possible; clients never meet it
└── Unavailable       something we need is down; try again

A concrete refusal sets `code`, `title` and `advice`; the error reference lists those that an
operation of the API answers.
"""

from __future__ import annotations

import enum
from typing import Any, ClassVar


class ErrorKind(enum.Enum):
    """What sort of refusal it is. Only the API maps it to an HTTP status."""

    INVALID = "invalid"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    RULE = "rule"
    UNAVAILABLE = "unavailable"


class DomainError(Exception):
    """A refusal with a stable `code` that clients switch on.

    `detail` is one sentence for people, `field` the request field it is about, `extra` further
    members of the problem document (snake_case here, camelCase in JSON).
    """

    code: ClassVar[str]
    kind: ClassVar[ErrorKind]
    title: ClassVar[str]
    advice: ClassVar[str]

    # Whether an operation of the API answers it, so that the error reference lists it. Any other
    # one is for people, or a bug if it reaches the API.
    is_public: ClassVar[bool] = True
    # Whether it ends by itself within seconds, so that it is not stored as the answer for a repeat.
    is_passing: ClassVar[bool] = False
    registry: ClassVar[dict[str, type[DomainError]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "code" in vars(cls) and cls.is_public:
            known = DomainError.registry.setdefault(cls.code, cls)
            if known.__qualname__ != cls.__qualname__:
                raise TypeError(f"{cls.code} is the code of {known} and of {cls}")

    def __init__(self, detail: str, *, field: str | None = None, **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.field = field
        self.extra = extra


class InvalidInput(DomainError):
    kind = ErrorKind.INVALID


class Forbidden(DomainError):
    kind = ErrorKind.FORBIDDEN


class NotFound(DomainError):
    code = "not_found"
    kind = ErrorKind.NOT_FOUND
    title = "Not found"
    advice = "Check the id and that it belongs to the tenant of this API key."


class Conflict(DomainError):
    kind = ErrorKind.CONFLICT


class RuleViolation(DomainError):
    kind = ErrorKind.RULE


class StaffRefusal(DomainError):
    kind = ErrorKind.CONFLICT
    is_public = False


class Unavailable(DomainError):
    kind = ErrorKind.UNAVAILABLE
