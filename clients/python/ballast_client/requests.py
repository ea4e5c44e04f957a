"""One call as data, and the rules for sending it again. Shared by both clients."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import httpx

from ballast_client.errors import from_problem

TRIES = 4
_BACKOFF_SECONDS = (0.2, 1.0, 3.0)
_WORTH_A_RETRY = {429, 500, 502, 503, 504}

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Call(Generic[Result]):
    """A request whose answer's `data` is a `Result`; `ballast_client.calls` makes them.

    Every write carries an idempotency key, so sending it again is safe.
    """

    method: str
    path: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None

    def headers(self) -> dict[str, str]:
        if self.method == "GET":
            return {}
        return {"Idempotency-Key": self.idempotency_key or str(uuid.uuid4())}


class ListCall(Call[Result]):
    """A request for a list of `Result`s, page by page."""

    def after(self, cursor: str) -> ListCall[Result]:
        """The same list, from the next page on."""
        return replace(self, parameters={**self.parameters, "cursor": cursor})


def build(http: httpx.Client | httpx.AsyncClient, call: Call[Any]) -> httpx.Request:
    """The request to send, and to send again unchanged: the same key on every try."""
    given = {name: value for name, value in call.parameters.items() if value is not None}
    return http.build_request(
        call.method, call.path, params=given, json=call.body, headers=call.headers()
    )


def is_worth_a_retry(response: httpx.Response) -> bool:
    """Whether the same request may get another answer soon."""
    if response.status_code == 409:
        return bool(_problem(response).get("code") == "idempotency_in_progress")
    return response.status_code in _WORTH_A_RETRY


def delay(attempt: int, response: httpx.Response | None = None) -> float:
    """Seconds before the next try: what the server asked for, or a back-off with jitter."""
    asked = response.headers.get("Retry-After", "") if response is not None else ""
    if asked.isdigit():
        return min(float(asked), 30.0)
    return _BACKOFF_SECONDS[attempt] * random.uniform(0.8, 1.2)  # noqa: S311  # only spreads load


def parse(response: httpx.Response) -> Any:
    """The JSON of a success. Raises ApiError."""
    if response.is_success:
        return response.json()
    raise from_problem(response.status_code, _problem(response))


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        problem = json.loads(response.content)
    except ValueError:
        problem = None
    return problem if isinstance(problem, dict) else {"detail": response.reason_phrase}
