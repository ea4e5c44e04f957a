"""A tenant's program: sends orders over HTTP and repeats each until it is answered."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any

import httpx
from ballast_client import Ballast, Conflict, RateLimited
from ballast_client.requests import Call

from tenants.models import Tenant
from tests.builders import make_key


class CountingTransport(httpx.HTTPTransport):
    """Counts every answer by its status, those the client tried again after as well."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: Counter[int] = Counter()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        self.answers[response.status_code] += 1
        return response


class Customer:
    """Order number n is `body(n)`, under an idempotency key of its own."""

    def __init__(
        self, base_url: str, tenant: Tenant, *, path: str, body: Callable[[int], dict[str, Any]]
    ) -> None:
        self.tenant = tenant
        self._path, self._body = path, body
        transport = CountingTransport()
        self.answers = transport.answers
        self.ballast = Ballast(make_key(tenant), base_url=base_url, transport=transport)

    def __enter__(self) -> Customer:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.ballast.close()

    def send(self, count: int) -> threading.Thread:
        """Send `count` orders, in a thread."""
        sender = threading.Thread(target=self._order_all, args=(count,))
        sender.start()
        return sender

    def _order_all(self, count: int) -> None:
        for number in range(count):
            self._order(number)

    def _order(self, number: int) -> None:
        order: Call[Any] = Call(
            method="POST",
            path=self._path,
            body=self._body(number),
            idempotency_key=f"order-{number}",
        )
        while True:
            with contextlib.suppress(Conflict, RateLimited):
                self.ballast.send(order)
                return
