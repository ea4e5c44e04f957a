"""The client for requests to tenants' servers: bounded in time and bytes, and never led astray.

The address is checked when the socket is made, so neither DNS tricks nor literals get around it.
No redirects, no cookies, no proxy from the environment, no decompression.
"""

from __future__ import annotations

import asyncio
import enum
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any

import aiohttp
from yarl import URL

from common.http.names import AddressRefused, CheckedResolver, check_dialled
from common.http.urls import Policy, Target, UrlRefused

TOTAL_SECONDS = 15.0
CONNECT_SECONDS = 5.0
ANSWER_BYTES_MAX = 16 * 1024
_KEEP_ALIVE_SECONDS = 5.0
_HEADERS_MAX = 30
_HEADER_LENGTH_MAX = 200
_HEADERS_LEFT_OUT = {"set-cookie", "www-authenticate", "proxy-authenticate"}

Headers = tuple[tuple[str, str], ...]


class Failure(enum.StrEnum):
    """Why there is no answer. What a tenant may see: nothing about our network."""

    URL_NOT_ALLOWED = "url_not_allowed"
    ADDRESS_NOT_ALLOWED = "address_not_allowed"
    NAME_NOT_RESOLVED = "name_not_resolved"
    CONNECTION_FAILED = "connection_failed"
    TLS_FAILED = "tls_failed"
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    INVALID_RESPONSE = "invalid_response"
    INTERNAL_ERROR = "internal_error"  # ours, not the receiver's; callers set it


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
        self._tls = tls or ssl.create_default_context()
        self._timeout = aiohttp.ClientTimeout(
            total=total_seconds,
            connect=connect_seconds,
            sock_connect=connect_seconds,
            ceil_threshold=2 * total_seconds,  # no rounding up to whole seconds
        )
        self._stack = AsyncExitStack()
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def __aenter__(self) -> Client:
        for exception_only in (False, True):
            self._sessions[exception_only] = await self._open_session(exception_only)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def post(
        self, url: str, *, body: bytes, headers: Mapping[str, str], allow_http: bool
    ) -> Answer:
        """Send `body` and wait for the answer, at most 15 s in all."""
        started = time.monotonic()
        try:
            target = self._policy.check(url, allow_http=allow_http)
            answer = await self._send(target, body, headers)
        except (UrlRefused, aiohttp.ClientError, OSError, ValueError) as error:
            answer = Answer(failure=_failure_of(error))
        return replace(answer, duration_ms=round((time.monotonic() - started) * 1000))

    async def _send(self, target: Target, body: bytes, headers: Mapping[str, str]) -> Answer:
        url = URL(target.url, encoded=True)
        if ((url.raw_host or "").lower(), url.port) != (target.host, target.port):
            raise UrlRefused("two readings of one URL")
        session = self._sessions[target.needs_exception]
        async with session.post(
            url,
            data=body,
            headers={"Accept-Encoding": "identity", **headers},
            allow_redirects=False,
        ) as response:
            return Answer(
                status=response.status,
                body=await _read(response),
                headers=_headers_of(response),
                retry_after=response.headers.get("Retry-After"),
            )

    async def _open_session(self, exception_only: bool) -> aiohttp.ClientSession:
        resolver = CheckedResolver(self._policy, exception_only=exception_only)
        self._stack.push_async_callback(resolver.close)
        connector = aiohttp.TCPConnector(
            ssl=self._tls,
            limit=0,  # the caller bounds how much is in flight
            resolver=resolver,
            keepalive_timeout=_KEEP_ALIVE_SECONDS,
            socket_factory=partial(self._open_socket, exception_only),
        )
        session = aiohttp.ClientSession(
            connector=connector,
            timeout=self._timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            read_bufsize=ANSWER_BYTES_MAX,
        )
        return await self._stack.enter_async_context(session)

    def _open_socket(self, exception_only: bool, info: Any) -> socket.socket:
        family, kind, protocol, _name, sockaddr = info
        check_dialled(self._policy, sockaddr, exception_only=exception_only)
        return socket.socket(family=family, type=kind, proto=protocol)


def _headers_of(response: aiohttp.ClientResponse) -> Headers:
    shown = (
        (name, value[:_HEADER_LENGTH_MAX])
        for name, value in response.headers.items()
        if name.lower() not in _HEADERS_LEFT_OUT
    )
    return tuple(islice(shown, _HEADERS_MAX))


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """At most 16 KiB; a longer answer is cut off together with its connection."""
    received = bytearray()
    while len(received) < ANSWER_BYTES_MAX:
        chunk = await response.content.read(ANSWER_BYTES_MAX - len(received))
        if not chunk:
            return bytes(received)
        received += chunk
    response.close()
    return bytes(received)


def _failure_of(error: Exception) -> Failure:
    if isinstance(getattr(error, "os_error", None), AddressRefused):
        return Failure.ADDRESS_NOT_ALLOWED
    match error:
        case UrlRefused() | aiohttp.InvalidURL():
            return Failure.URL_NOT_ALLOWED
        case TimeoutError():
            return Failure.TIMEOUT
        case aiohttp.ClientConnectorDNSError():
            return Failure.NAME_NOT_RESOLVED
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return Failure.TLS_FAILED
        case aiohttp.ClientConnectorError():
            return Failure.CONNECTION_FAILED
        case aiohttp.ServerDisconnectedError() | OSError():
            return Failure.DISCONNECTED
    return Failure.INVALID_RESPONSE


def post_once(
    policy: Policy,
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str],
    allow_http: bool,
    total_seconds: float = TOTAL_SECONDS,
) -> Answer:
    """One request from synchronous code. Blocks that long; hold no transaction."""

    async def send() -> Answer:
        async with Client(policy, total_seconds=total_seconds) as client:
            return await client.post(url, body=body, headers=headers, allow_http=allow_http)

    return asyncio.run(send())
