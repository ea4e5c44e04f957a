"""The two clients: `Ballast` blocks, `AsyncBallast` awaits. Both send the same calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from ballast_client import requests
from ballast_client.errors import ConnectionFailed
from ballast_client.requests import TRIES, Call, ListCall

DEFAULT_BASE_URL = "http://localhost:8000"
_TIMEOUT = httpx.Timeout(30, connect=5)

Result = TypeVar("Result")


class Ballast:
    """The synchronous client. Use it as a context manager, or `close()` it."""

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str = DEFAULT_BASE_URL,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`transport`: your own, such as one with a proxy, in place of httpx's."""
        self._http = httpx.Client(**_options(api_key, base_url), transport=transport)

    def send(self, call: Call[Result]) -> Result:
        """The answer's `data`. Raises ApiError, ConnectionFailed."""
        answer: Result = requests.parse(self.respond(call))["data"]
        return answer

    def each(self, call: ListCall[Result]) -> Iterator[Result]:
        """Every row of a list; further pages are fetched as you go."""
        page = requests.parse(self.respond(call))
        yield from page["data"]
        while page["nextCursor"] is not None:
            page = requests.parse(self.respond(call.after(page["nextCursor"])))
            yield from page["data"]

    def close(self) -> None:
        self._http.close()

    def respond(self, call: Call[Any]) -> httpx.Response:
        """The whole answer, a refusal too, for its status and headers. Raises ConnectionFailed."""
        request = requests.build(self._http, call)
        for attempt in range(TRIES - 1):
            try:
                response = self._http.send(request)
            except httpx.TransportError:
                time.sleep(requests.delay(attempt))
                continue
            if not requests.is_worth_a_retry(response):
                return response
            time.sleep(requests.delay(attempt, response))
        try:
            return self._http.send(request)
        except httpx.TransportError as error:
            raise ConnectionFailed(str(error)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncBallast:
    """The asyncio client. Use it as an async context manager, or `await close()`."""

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str = DEFAULT_BASE_URL,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`transport`: your own, such as one with a proxy, in place of httpx's."""
        self._http = httpx.AsyncClient(**_options(api_key, base_url), transport=transport)

    async def send(self, call: Call[Result]) -> Result:
        """The answer's `data`. Raises ApiError, ConnectionFailed."""
        answer: Result = requests.parse(await self.respond(call))["data"]
        return answer

    async def each(self, call: ListCall[Result]) -> AsyncIterator[Result]:
        """Every row of a list; further pages are fetched as you go."""
        page = requests.parse(await self.respond(call))
        while True:
            for row in page["data"]:
                yield row
            if page["nextCursor"] is None:
                return
            page = requests.parse(await self.respond(call.after(page["nextCursor"])))

    async def close(self) -> None:
        await self._http.aclose()

    async def respond(self, call: Call[Any]) -> httpx.Response:
        """The whole answer, a refusal too, for its status and headers. Raises ConnectionFailed."""
        request = requests.build(self._http, call)
        for attempt in range(TRIES - 1):
            try:
                response = await self._http.send(request)
            except httpx.TransportError:
                await asyncio.sleep(requests.delay(attempt))
                continue
            if not requests.is_worth_a_retry(response):
                return response
            await asyncio.sleep(requests.delay(attempt, response))
        try:
            return await self._http.send(request)
        except httpx.TransportError as error:
            raise ConnectionFailed(str(error)) from error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.close()


def _options(api_key: str, base_url: str) -> dict[str, Any]:
    return {
        "base_url": f"{base_url.rstrip('/')}/api/v1",
        "headers": {
            "Authorization": f"Bearer {api_key}",
            "User-Agent": "ballast-client-python/0.1.0",
        },
        "timeout": _TIMEOUT,
    }
