"""Sends requests through the product's whole WSGI application, and notes the answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

IN_PROGRESS = "idempotency_in_progress"


@dataclass(frozen=True)
class Told:
    """An answer: its status and its content."""

    status: int
    body: dict[str, Any]

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_definite(self) -> bool:
        """Whether a client may stop asking: the service was neither down nor busy."""
        return self.status < 500 and self.body.get("code") != IN_PROGRESS


@dataclass
class Intent:
    """What somebody wanted, and every answer they got; None stands for no answer."""

    number: int
    kind: str
    tenant_id: str
    path: str
    body: dict[str, Any] | None
    key: str | None
    answers: list[Told | None] = field(default_factory=list)

    @property
    def told(self) -> Told | None:
        """The first answer that a client would rely on; None if there was none."""
        definite = (told for told in self.answers if told is not None and told.is_definite)
        return next(definite, None)

    @property
    def is_open(self) -> bool:
        """Whether the client would ask again. With a key it may, until it has a definite answer."""
        return self.key is not None and self.told is None

    @property
    def success(self) -> dict[str, Any] | None:
        """What the client was told was done; None if it was not told so."""
        return self.told.body.get("data") if self.told and self.told.is_success else None


class Front:
    """The web application. Like gunicorn, it sends the signals of a request's begin and end."""

    def __init__(self) -> None:
        self._application = WSGIHandler()
        self._factory = RequestFactory(SERVER_NAME="localhost")

    def ask(
        self,
        method: str,
        path: str,
        *,
        api_key: str,
        body: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> Told:
        headers = {"Authorization": f"Bearer {api_key}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        data = b"" if body is None else json.dumps(body).encode()
        request = self._factory.generic(method, path, data, "application/json", headers=headers)
        heard: list[str] = []

        def start(status: str, *_rest: Any) -> Callable[[bytes], object]:
            heard.append(status)
            return lambda _chunk: None

        answer: Any = self._application(request.environ, start)
        try:
            content = b"".join(answer)
        finally:
            answer.close()
        return Told(int(heard[0].split()[0]), json.loads(content or b"{}"))
