"""A webhook receiver of its own process: answers at once, late or never, and remembers when.

`python -m benchmarks.receiver PORT`. `POST /fast…` answers 200, `/slow…` after 5 s, `/dead…` never.
`GET /` gives the arrivals as JSON, `[path, Unix time]` each; `DELETE /` forgets them.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

SLOW_SECONDS = 5.0
_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
_arrivals: list[tuple[str, float]] = []


class Receiver(asyncio.Protocol):
    """One connection; requests have a Content-Length or no body."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._buffer) < end + 4 + length:
                return
            method, path, _ = self._buffer.split(b" ", 2)
            self._buffer = self._buffer[end + 4 + length :]
            self._answer(method, path.decode())

    def _answer(self, method: bytes, path: str) -> None:
        if method == b"GET":
            body = json.dumps(_arrivals).encode()
            self._write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        elif method == b"DELETE":
            _arrivals.clear()
            self._write(_OK)
        elif path.startswith("/slow"):
            asyncio.get_running_loop().call_later(SLOW_SECONDS, self._accept, path)
        elif not path.startswith("/dead"):
            self._accept(path)

    def _accept(self, path: str) -> None:
        _arrivals.append((path, time.time()))
        self._write(_OK)

    def _write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)  # type: ignore[attr-defined]  # it is a socket's


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(
        Receiver, "127.0.0.1", int(sys.argv[1]), backlog=1024
    )
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
