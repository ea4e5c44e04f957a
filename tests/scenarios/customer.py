"""A tenant's program: sends orders over HTTP and repeats each until it is answered."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any

import httpx

from tenants.models import Tenant
from tests.builders import make_key


class Customer:
    """Order number n is `body(n)`, under an idempotency key of its own."""

    def __init__(
        self, base_url: str, tenant: Tenant, *, path: str, body: Callable[[int], dict[str, Any]]
    ) -> None:
        self.tenant = tenant
        self.answers: Counter[int] = Counter()
        self._path, self._body = f"/api/v1{path}", body
        self.http = httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {make_key(tenant)}"},
            timeout=10,
        )

    def __enter__(self) -> Customer:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.http.close()

    def send(self, count: int) -> threading.Thread:
        """Send `count` orders, in a thread."""
        sender = threading.Thread(target=self._order_all, args=(count,))
        sender.start()
        return sender

    def _order_all(self, count: int) -> None:
        for number in range(count):
            self._order(number)

    def _order(self, number: int) -> None:
        headers = {"Idempotency-Key": f"order-{number}"}
        while True:
            response = self.http.post(self._path, json=self._body(number), headers=headers)
            self.answers[response.status_code] += 1
            if response.status_code == 201:
                return
            assert response.status_code in {409, 429, 503}, response.text
            time.sleep(0.2)
