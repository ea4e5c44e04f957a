"""What a client has sent and no thread has read yet, and whether it is a whole request.

gunicorn's own parser judges every byte. What is found out here only decides when it has enough:
where the two differ, the parser meets the end of what is there, as if the client had left.
"""

from __future__ import annotations

import re
from typing import Any

from gunicorn.http.body import ChunkedReader, LengthReader
from gunicorn.http.errors import LimitRequestHeaders, NoMoreData, ParseException
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import Unreader

HEAD_BYTES_MAX = 64 * 1024
_CHUNK_LINE_BYTES_MAX = 8190
# gunicorn refuses a line that ends without CR at once.
_END_OF_HEAD = re.compile(rb"\r\n\r\n|(?<!\r)\n")


class TooMuchAtOnce(ParseException):  # type: ignore[misc]  # gunicorn ships no types
    """Clients are sending more long bodies than the process has memory for."""


class Received(Unreader):  # type: ignore[misc]
    """The bytes of one connection. Reading beyond them raises NoMoreData; nobody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead = bytearray()
        self._searched = 0

    def take(self, data: bytes) -> None:
        """Add what has just arrived."""
        self.ahead += data

    def chunk(self, size_hint: int | None = None) -> bytes:
        """All of it, for gunicorn."""
        if not self.ahead:
            raise NoMoreData
        data = bytes(self.ahead)
        self.ahead.clear()
        return data

    def put_back(self) -> None:
        """Return what gunicorn read beyond the message that it parsed."""
        self.ahead[:0] = self.take_buffered()
        self._searched = 0

    def forget(self) -> None:
        """Drop all of it: after the last answer nothing is a request any more."""
        self.take_buffered()
        self.ahead.clear()

    def has_head(self) -> bool:
        """Whether the lines up to an empty one are there, or a malformed one."""
        found = _END_OF_HEAD.search(self.ahead, max(0, self._searched - 3))
        self._searched = len(self.ahead)
        return found is not None


class EarlyParser(RequestParser):  # type: ignore[misc]
    """gunicorn's parser, run as soon as a head is there. A thread asks for the result later."""

    def __init__(self, cfg: Any, received: Received, address: Any, *, body_bytes_max: int) -> None:
        super().__init__(cfg, (), address)
        self.unreader = received
        self._body_bytes_max = body_bytes_max
        self._found: Any = None
        self._chunks = Chunks()

    def __next__(self) -> Any:
        found, self._found = self._found, None
        if isinstance(found, Exception):
            raise found
        return found

    def refuse(self, error: Exception) -> None:
        """Have the thread meet this error, whatever the client has sent."""
        self._found = error

    def has_head(self) -> bool:
        """Whether there is something to answer: a head, or an error."""
        if self._found is None and self.unreader.has_head():
            self._parse()
        elif self._found is None and len(self.unreader.ahead) > HEAD_BYTES_MAX:
            self._found = LimitRequestHeaders("the head is too long")
        return self._found is not None

    def has_request(self) -> bool:
        """Whether nothing is missing: head and body, as much of it as anybody reads, or an
        error."""
        if not self.has_head():
            return False
        if isinstance(self._found, Exception):
            return True
        ahead: bytearray = self.unreader.ahead
        reader = self._found.body.reader
        if isinstance(reader, LengthReader):
            return len(ahead) >= int(min(reader.length, self._body_bytes_max))
        if isinstance(reader, ChunkedReader):
            return len(ahead) >= self._body_bytes_max or self._chunks.have_ended(ahead)
        return True

    def wants_continue(self) -> bool:
        """Whether the client waits for our word before it sends the body. True once."""
        request = self._found
        wanted = isinstance(request, Request) and bool(request._expected_100_continue)
        if wanted:
            request._expected_100_continue = False
        return wanted

    def _parse(self) -> None:
        try:
            self._found = super().__next__()
        except Exception as error:  # the thread raises it again
            self._found = error
        self.unreader.put_back()
        self._chunks = Chunks()


class Chunks:
    """Looks for the end of a chunked body while it grows."""

    def __init__(self) -> None:
        self._at = 0
        self._was_last = False

    def have_ended(self, body: bytearray) -> bool:
        """Whether the last chunk and its trailers are there, or something malformed."""
        while not self._was_last:
            end = body.find(b"\r\n", self._at)
            if end < 0:
                return len(body) - self._at > _CHUNK_LINE_BYTES_MAX
            size = _chunk_size(body[self._at : end])
            if size < 0:
                return True
            self._was_last = size == 0
            self._at = end + 2 + size + 2 if size else end
        found = body.find(b"\r\n\r\n", self._at)
        self._at = max(self._at, len(body) - 3)
        return found >= 0


def _chunk_size(line: bytearray) -> int:
    """-1 where there is none."""
    try:
        return int(line.partition(b";")[0], 16)
    except ValueError:
        return -1
