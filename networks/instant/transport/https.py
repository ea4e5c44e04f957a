"""Messages over HTTPS with mutual TLS, to a server whose key is pinned.

POST {base}/messages              one message: 202, or 422 with {"code", "reason"} if not taken
GET  {base}/messages?limit=&wait= {"messages": [{"id", "content"}]}, the content in base64
POST {base}/messages/acknowledge  {"ids": [...]}
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from networks.instant.transport.base import (
    CONTENT_BYTES_MAX,
    WAIT_MAX,
    Delivery,
    NotTaken,
    Silent,
    Unavailable,
)
from networks.instant.transport.connections import Answer, Broken, Connections, Request
from networks.instant.transport.identity import Identity, SettingsRefused

SECONDS = 10.0  # for one exchange
RECEIVED_BYTES_MAX = 32 << 20
_REFUSAL_BYTES_MAX = 64 << 10
_LIMIT_MAX = 500
_WORDS_MAX = 200
_XML, _JSON = "application/xml", "application/json"


@dataclass(frozen=True, kw_only=True)
class HttpsSettings:
    """Where a server is, and who we are there. Raises SettingsRefused when it is made."""

    base_url: str
    identity: Identity
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        is_bare = not (parts.username or parts.query or parts.fragment)
        if parts.scheme != "https" or not parts.hostname or not is_bare:
            raise SettingsRefused("base_url", "Enter an address such as https://bank.example/rtp.")
        if not 0 < self.seconds <= WAIT_MAX.total_seconds():
            raise SettingsRefused("seconds", "An exchange may last up to 30 seconds.")


class HttpsTransport:
    """A transport over HTTPS. Connections stay open between calls; thread-safe."""

    def __init__(self, settings: HttpsSettings) -> None:
        parts = urlsplit(settings.base_url)
        self._path = parts.path.rstrip("/")
        self._seconds = settings.seconds
        self._connections = Connections(parts.hostname or "", parts.port or 443, settings.identity)

    def send(self, content: bytes, *, name: str) -> None:
        """Hand a message over. The server reads its id in it, so that `name` does not go along.

        Raises Silent, NotTaken, and ValueError.
        """
        if len(content) > CONTENT_BYTES_MAX:
            raise ValueError(f"message {name} has more than 1 MiB")
        request = Request("POST", f"{self._path}/messages", content, _XML)
        try:
            answer = self._exchange(request, bytes_max=_REFUSAL_BYTES_MAX)
        except Broken as error:
            raise Silent(error.cause) from None
        if answer.status == HTTPStatus.UNPROCESSABLE_ENTITY:
            raise _refusal(answer.body)
        if answer.status != HTTPStatus.ACCEPTED:
            raise Silent(f"status_{answer.status}")

    def receive(self, *, limit: int, wait: timedelta) -> Sequence[Delivery]:
        """Raises Unavailable."""
        limit = max(1, min(limit, _LIMIT_MAX))
        return self._received(limit, wait=math.ceil(min(wait, WAIT_MAX).total_seconds()))

    def acknowledge(self, ids: Iterable[str]) -> None:
        """Raises Unavailable."""
        body = json.dumps({"ids": list(ids)}).encode()
        self._fetched(Request("POST", f"{self._path}/messages/acknowledge", body, _JSON))

    def _received(self, limit: int, *, wait: int) -> Sequence[Delivery]:
        query = f"limit={limit}&wait={max(0, wait)}"
        answer = self._fetched(Request("GET", f"{self._path}/messages?{query}"), wait=wait)
        try:
            return [_delivery(each) for each in json.loads(answer.body)["messages"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Unavailable("answer_unreadable") from None

    def close(self) -> None:
        """Close the connections that are idle."""
        self._connections.close()

    def _fetched(self, request: Request, *, wait: int = 0) -> Answer:
        try:
            answer = self._exchange(request, bytes_max=RECEIVED_BYTES_MAX, wait=wait)
        except Broken as error:
            raise Unavailable(error.cause) from None
        if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            raise Unavailable(f"status_{answer.status}")
        return answer

    def _exchange(self, request: Request, *, bytes_max: int, wait: int = 0) -> Answer:
        return self._connections.exchange(
            request, seconds=self._seconds + wait, bytes_max=bytes_max
        )


def _refusal(body: bytes) -> NotTaken:
    """What the server said, cut to what can be shown. It said no, however it words it."""
    try:
        said: Any = json.loads(body)
        code, reason = str(said["code"]), str(said.get("reason", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        code, reason = "refused", ""
    return NotTaken(_shown(code), _shown(reason))


def _shown(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)[:_WORDS_MAX]


def _delivery(said: Any) -> Delivery:
    """Raises ValueError, KeyError and TypeError."""
    if not isinstance(said["id"], str):
        raise TypeError("an id is a text")
    try:
        return Delivery(said["id"], base64.b64decode(said["content"], validate=True))
    except binascii.Error:
        raise ValueError("the content is not in base64") from None
