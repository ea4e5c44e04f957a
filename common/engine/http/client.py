"""The client for requests to tenants' servers, bounded in time and bytes.

The address is checked when the socket is made, so that neither DNS nor an address in the URL gets
around the rule. It follows no redirects, keeps no cookies, takes no proxy from the environment and
decompresses nothing.
"""

from __future__ import annotations

import asyncio
import enum
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from types import TracebackType

from common.engine.http import trust
from common.engine.http.connections import ConnectionFailed, Connections
from common.engine.http.exchange import InvalidResponse, Response
from common.engine.http.names import AddressRefused, NameNotResolved
from common.engine.http.urls import Policy, Target, UrlRefused

TOTAL_SECONDS = 15.0
CONNECT_SECONDS = 5.0
_HEADERS_MAX = 30
_HEADER_LENGTH_MAX = 200
_HEADERS_LEFT_OUT = {"set-cookie", "www-authenticate", "proxy-authenticate"}

Headers = tuple[tuple[str, str], ...]


class Failure(enum.StrEnum):
    """Why there is no answer, in words that a tenant may see: they tell nothing about our
    network."""

    URL_NOT_ALLOWED = "url_not_allowed"
    ADDRESS_NOT_ALLOWED = "address_not_allowed"
    NAME_NOT_RESOLVED = "name_not_resolved"
    CONNECTION_FAILED = "connection_failed"
    TLS_FAILED = "tls_failed"
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    INVALID_RESPONSE = "invalid_response"
    INTERNAL_ERROR = "internal_error"  # ours, not the receiver's


_FAILURES: tuple[tuple[type[Exception], Failure], ...] = (
    (UrlRefused, Failure.URL_NOT_ALLOWED),
    (AddressRefused, Failure.ADDRESS_NOT_ALLOWED),
    (NameNotResolved, Failure.NAME_NOT_RESOLVED),
    (TimeoutError, Failure.TIMEOUT),
    (ssl.SSLError, Failure.TLS_FAILED),
    (ConnectionFailed, Failure.CONNECTION_FAILED),
    (OSError, Failure.DISCONNECTED),
    (InvalidResponse, Failure.INVALID_RESPONSE),
    (ValueError, Failure.INTERNAL_ERROR),
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back: a status with the first 16 KiB of the body, or a failure.

    `headers`: the first 30, each value cut to 200 characters; those that hold secrets are left out.
    """

    status: int | None = None
    failure: Failure | None = None
    body: bytes = b""
    headers: Headers = ()
    retry_after: str | None = None
    duration_ms: int = 0

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class Client:
    """A pool of connections. Use it as an async context manager; `post` never raises."""

    def __init__(
        self,
        policy: Policy,
        *,
        tls: ssl.SSLContext | None = None,
        total_seconds: float = TOTAL_SECONDS,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        self._policy = policy
        self._total_seconds = total_seconds
        self._connections = Connections(
            policy, tls=tls or trust.system(), connect_seconds=connect_seconds
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connections.close()

    async def post(
        self, url: str, *, body: bytes, headers: Mapping[str, str], allow_http: bool
    ) -> Answer:
        """Send `body` and wait for the answer, at most 15 s in all."""
        started = time.monotonic()
        try:
            target = self._policy.check(url, allow_http=allow_http)
            request = _request(target, body, headers)
            async with asyncio.timeout(self._total_seconds):
                response = await self._connections.exchange(target, request)
        except (UrlRefused, InvalidResponse, OSError, ValueError) as error:
            return Answer(failure=_failure_of(error), duration_ms=_since(started))
        return _answer(response, duration_ms=_since(started))


def _request(target: Target, body: bytes, headers: Mapping[str, str]) -> bytes:
    """The bytes of the request. Raises ValueError for a header that would be more than one line."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    if not lines.count("\r") == lines.count("\n") == len(headers) or "\0" in lines:
        raise ValueError("a header holds the end of a line")
    head = (
        f"POST {target.path} HTTP/1.1\r\nHost: {target.authority}\r\nAccept-Encoding: identity\r\n"
        f"{lines}Accept: */*\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _answer(response: Response, *, duration_ms: int) -> Answer:
    headers = [(_text(name), _text(value)) for name, value in response.headers]
    shown = (
        (name, value[:_HEADER_LENGTH_MAX])
        for name, value in headers
        if name.lower() not in _HEADERS_LEFT_OUT
    )
    return Answer(
        status=response.status,
        body=response.body,
        headers=tuple(islice(shown, _HEADERS_MAX)),
        retry_after=next((v for name, v in headers if name.lower() == "retry-after"), None),
        duration_ms=duration_ms,
    )


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _failure_of(error: Exception) -> Failure:
    return next(failure for kind, failure in _FAILURES if isinstance(error, kind))


def post_once(
    policy: Policy,
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str],
    allow_http: bool,
    total_seconds: float = TOTAL_SECONDS,
) -> Answer:
    """Send one request from synchronous code. Blocks until it is answered; hold no transaction."""

    async def send() -> Answer:
        async with Client(policy, total_seconds=total_seconds) as client:
            return await client.post(url, body=body, headers=headers, allow_http=allow_http)

    return asyncio.run(send())
