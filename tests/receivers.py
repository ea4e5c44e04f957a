"""Real receivers on loopback, from obedient to hostile. The path says how one behaves."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType

ALLOWED = ["127.0.0.0/8", "::1/128"]


@dataclass(frozen=True)
class Received:
    """One request as it came in. Header names are lower case."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)


class Receiver:
    """A raw HTTP server in a thread of its own: it can misbehave in ways a framework cannot."""

    def __init__(self, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        self.requests: list[Received] = []
        self.connections = 0
        self.answers: dict[str, list[bytes]] = defaultdict(list)  # a path's next answers
        self._tls = tls
        self._host = host
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Receiver:
        self._thread.start()
        start = asyncio.start_server(self._accept, self._host, 0, ssl=self._tls)
        self._server = asyncio.run_coroutine_threadsafe(start, self._loop).result(5)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def url(self, path: str = "/200") -> str:
        scheme = "https" if self._tls else "http"
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{scheme}://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    async def _close(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while request := await _read(reader):
                self.requests.append(request)
                if not await self._answer(request, writer):
                    break
        writer.transport.abort()

    async def _answer(self, request: Received, writer: asyncio.StreamWriter) -> bool:
        """Behave as the path says; returns whether the connection may be used again."""
        word, _, argument = request.path.partition("?")[0].strip("/").partition("/")
        if scripted := self.answers[request.path]:
            writer.write(scripted.pop(0))
        elif word.isdigit():
            writer.write(answer(int(word), body=b"" if word == "204" else b"as you wish"))
        elif word == "slow":
            await asyncio.sleep(float(argument))
            writer.write(answer(200))
        else:
            await HOSTILE[word](writer)
            return False
        await writer.drain()
        return True


def answer(status: int, *, body: bytes = b"", headers: str = "") -> bytes:
    """A complete HTTP answer. `headers` are whole lines."""
    return b"HTTP/1.1 %d Status\r\n%sContent-Length: %d\r\n\r\n%s" % (
        status,
        headers.encode("latin-1"),
        len(body),
        body,
    )


async def _read(reader: asyncio.StreamReader) -> Received | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in filter(None, lines):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(path=first.split(" ")[1], headers=headers, body=body)


async def _silent(_writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def _drip_body(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    await _drip(writer)


async def _drip_headers(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    await _drip(writer)


async def _drip(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.05)


async def _endless_body(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"a" * 65_536)
        await writer.drain()


async def _endless_headers(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: a\r\n" * 100)
        await writer.drain()


async def _endless_trailers(writer: asyncio.StreamWriter) -> None:
    """A whole body, and header lines after it that never end."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n")
    while True:
        writer.write(b"X-More: a\r\n" * 100)
        await writer.drain()


async def _endless_framing(writer: asyncio.StreamWriter) -> None:
    """A chunk of a body, and the size of the next one that never ends."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1;")
    while True:
        writer.write(b"a" * 1000)
        await writer.drain()


async def _reset(_writer: asyncio.StreamWriter) -> None:
    """Close without a word; `_accept` aborts the connection."""


async def _truncated(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")
    await writer.drain()


async def _until_close(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\nthe whole of it")
    await writer.drain()


async def _last(writer: asyncio.StreamWriter) -> None:
    """Answer properly, and close although nothing said so."""
    writer.write(answer(200))
    await writer.drain()


async def _planting(writer: asyncio.StreamWriter) -> None:
    """Answer properly, and once more a moment later, for whoever asks next."""
    writer.write(answer(200))
    await asyncio.sleep(0.05)
    writer.write(answer(299))
    await asyncio.sleep(60)


async def _garbage(writer: asyncio.StreamWriter) -> None:
    writer.write(b"I am not a web server\r\n\r\n")
    await writer.drain()


async def _compressed(writer: asyncio.StreamWriter) -> None:
    writer.write(answer(200, body=b"\x1f\x8bnot gzip", headers="Content-Encoding: gzip\r\n"))
    await writer.drain()


HOSTILE = {
    "silent": _silent,
    "drip-body": _drip_body,
    "drip-headers": _drip_headers,
    "endless-body": _endless_body,
    "endless-headers": _endless_headers,
    "endless-trailers": _endless_trailers,
    "endless-framing": _endless_framing,
    "reset": _reset,
    "truncated": _truncated,
    "until-close": _until_close,
    "last": _last,
    "planting": _planting,
    "garbage": _garbage,
    "compressed": _compressed,
}
