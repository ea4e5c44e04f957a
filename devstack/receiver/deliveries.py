"""What was received: each request with its verdict, the last ones only."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from standardwebhooks import Webhook, WebhookVerificationError

KEPT = 50
# Of a body that is not believed: anybody on this machine may have sent it.
UNBELIEVED_BYTES_MAX = 2_000
SHOWN_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature", "content-type")


@dataclass(frozen=True)
class Delivery:
    """One request to the receiver. `fault` says why it is not believed; empty: it is, or nobody
    asked (`is_checked`). Only the beginning is kept of a body that is not."""

    number: int
    at: datetime
    headers: Mapping[str, str]
    body: str
    fault: str
    is_repeat: bool
    is_checked: bool

    @property
    def event(self) -> str:
        """The event's type, as far as there is one."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            return ""
        return str(found.get("type", "")) if isinstance(found, dict) else ""

    @property
    def id(self) -> str:
        return self.headers.get("webhook-id", "")


class Deliveries:
    """The last deliveries, newest first. Threads of the server share it."""

    def __init__(self, secret: str, *, most: int = KEPT) -> None:
        self._secret = secret
        self._kept: deque[Delivery] = deque(maxlen=most)
        self._lock = threading.Lock()
        self._count = 0

    def take(
        self, headers: Mapping[str, str], body: bytes, *, check: bool, now: datetime
    ) -> Delivery:
        """Keep one request; `check`: and verify it. Names of `headers` are in lower case."""
        fault = fault_of(headers, body, secret=self._secret) if check else ""
        kept = body[:UNBELIEVED_BYTES_MAX] if fault else body
        shown = {name: headers[name] for name in SHOWN_HEADERS if name in headers}
        with self._lock:
            self._count += 1
            delivery = Delivery(
                number=self._count,
                at=now,
                headers=shown,
                body=kept.decode("utf-8", "replace"),
                fault=fault,
                is_repeat=not fault and self._knows(shown.get("webhook-id", "")),
                is_checked=check,
            )
            self._kept.appendleft(delivery)
        return delivery

    def all(self) -> list[Delivery]:
        with self._lock:
            return list(self._kept)

    def find(self, number: int) -> Delivery | None:
        return next((each for each in self.all() if each.number == number), None)

    def _knows(self, delivery_id: str) -> bool:
        return any(each.id == delivery_id and not each.fault for each in self._kept)


def fault_of(headers: Mapping[str, str], body: bytes, *, secret: str) -> str:
    """Why the request must not be believed; empty if its signature is right."""
    try:
        Webhook(secret).verify(body.decode(), dict(headers))
    except WebhookVerificationError as error:
        return f"The signature is not right: {error}."
    except (ValueError, RecursionError):
        return "The body is not JSON in UTF-8."
    return ""
