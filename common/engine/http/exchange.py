"""One HTTP/1.1 connection, one request at a time. llhttp parses the answer; this module
bounds it."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

ANSWER_BYTES_MAX = 16 * 1024
_HEAD_BYTES_MAX = 32 * 1024
# Room for the headers and a whole body in chunks of one byte.
_BYTES_MAX = _HEAD_BYTES_MAX + 6 * ANSWER_BYTES_MAX
_SWITCHING_PROTOCOLS = 101
_FRAMED = {b"content-length", b"transfer-encoding"}
_WITHOUT_BODY = {204, 304}


class Disconnected(ConnectionError):
    """The receiver closed the connection before it answered."""


class InvalidResponse(Exception):
    """What came is not HTTP, not a whole answer, or longer than allowed."""


class Response(NamedTuple):
    """An answer as it came: raw headers, at most 16 KiB of the body, never decompressed."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Connection(asyncio.Protocol):
    """`is_reusable`: the last exchange ended well, and the receiver keeps the connection open."""

    def __init__(self) -> None:
        self.is_reusable = False
        self._parser = HttpResponseParser(self)
        self._answer: asyncio.Future[Response] | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._begin_answer()

    async def exchange(self, request: bytes) -> Response:
        """Send `request` and wait for its answer. Raises Disconnected, InvalidResponse, OSError.

        Afterwards a connection that cannot be used again is closed, also if the call was canceled.
        """
        self.is_reusable = False
        self._begin_answer()
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._answer
        finally:
            self._answer = None
            if not self.is_reusable:
                self.abort()

    def abort(self) -> None:
        """Close at once, without sending what is left."""
        self.is_reusable = False
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            self.abort()  # no request waits for an answer
            return
        self._bytes += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._has_surplus = True
        except HttpParserError as error:
            self._has_surplus = True
            if not self._is_complete:
                self._fail(InvalidResponse(str(error)))
                return
        if self._is_complete or len(self._body) >= ANSWER_BYTES_MAX:
            self._finish()
        elif self._bytes > (_BYTES_MAX if self._has_head else _HEAD_BYTES_MAX):
            self._fail(InvalidResponse("the head, or what is around the body, is too long"))

    def connection_lost(self, error: Exception | None) -> None:
        self.is_reusable = False
        if error is not None:
            self._fail(error)
        elif not self._has_head:
            self._fail(Disconnected())
        elif self._is_framed():
            self._fail(InvalidResponse("the body ended early"))
        else:
            self._finish()

    # What the parser found.

    def on_message_begin(self) -> None:
        if self._is_complete:
            raise InvalidResponse("a second answer")  # ends the parsing

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:  # what follows the body proves nothing, and is left out
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()
        is_hint = 100 <= self._status < 200 and self._status != _SWITCHING_PROTOCOLS
        self._has_head = not is_hint

    def on_body(self, data: bytes) -> None:
        self._body += data[: ANSWER_BYTES_MAX - len(self._body)]

    def on_message_complete(self) -> None:
        if self._has_head:
            self._is_complete = True
            self._keeps_alive = self._parser.should_keep_alive()
        else:
            self._headers = []  # the answer is still to come

    def _begin_answer(self) -> None:
        self._status = 0
        self._headers = []
        self._body = bytearray()
        self._bytes = 0
        self._has_head = self._is_complete = self._keeps_alive = self._has_surplus = False

    def _is_framed(self) -> bool:
        """Whether the headers say where the body ends. If not, it ends with the connection."""
        return self._status not in _WITHOUT_BODY and any(
            name.lower() in _FRAMED for name, _value in self._headers
        )

    def _finish(self) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(Response(self._status, self._headers, bytes(self._body)))
            self.is_reusable = (
                self._keeps_alive and not self._has_surplus and not self._transport.is_closing()
            )

    def _fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
