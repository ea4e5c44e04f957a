"""The receiver's server: takes deliveries, shows pages, on the loopback address only."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from devstack.receiver import connection, pages
from devstack.receiver.connection import HOOKS, OTHERS, Connection
from devstack.receiver.deliveries import Deliveries

HOST = "127.0.0.1"
BODY_BYTES_MAX = 1024 * 1024
_SILENCE_SECONDS = 15
_FILES = {"/style.css": "text/css", "/live.js": "text/javascript"}
_PAGE_TYPE = "text/html; charset=utf-8"
# Neither a name that somebody points to this machine nor a page of somebody else gets anything.
_NAMES = (HOST, "localhost")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    """Listens at `port` of this machine, or where that is taken (or 0) at any free one."""

    daemon_threads = True

    def __init__(self, *, secret: str, port: int = 0) -> None:
        self.deliveries = Deliveries(secret)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError:
            super().__init__((HOST, 0), _Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a caller who goes away is no fault of ours."""


def open_in(home: Path) -> Server:
    """The server of a folder, at the port and with the secret of before. The folder says how it is
    reached once it listens."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    before = connection.load(home, connection.KEPT)
    secret = before.secret if before else connection.new_secret()
    server = Server(secret=secret, port=before.port if before else 0)
    connection.save(home, Connection(port=server.port, secret=secret))
    return server


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = _SILENCE_SECONDS
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self._body()
        if body is None:
            return
        if not self._is_for_us() or self.path not in (HOOKS, OTHERS):
            self._answer(HTTPStatus.NOT_FOUND, "There is nothing here.")
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        delivery = self.server.deliveries.take(
            headers, body, check=self.path == HOOKS, now=datetime.now(UTC)
        )
        if delivery.fault:
            self._answer(HTTPStatus.BAD_REQUEST, delivery.fault)
        else:
            self._answer(HTTPStatus.NO_CONTENT)

    def do_GET(self) -> None:
        if not self._is_for_us():
            self._answer(HTTPStatus.NOT_FOUND, "There is nothing here.")
        elif self.path == "/":
            self._answer(
                HTTPStatus.OK,
                pages.overview(self.server.deliveries.all(), port=self.server.port),
                _PAGE_TYPE,
            )
        elif kind := _FILES.get(self.path):
            file = Path(__file__).with_name(self.path.removeprefix("/"))
            self._answer(HTTPStatus.OK, file.read_text(), f"{kind}; charset=utf-8")
        else:
            self._show(self.path.removeprefix("/deliveries/"))

    def _show(self, number: str) -> None:
        is_number = number.isascii() and number.isdigit() and len(number) < 10
        found = self.server.deliveries.find(int(number)) if is_number else None
        if found is None:
            self._answer(HTTPStatus.NOT_FOUND, "There is no such delivery, or not any more.")
        else:
            self._answer(HTTPStatus.OK, pages.detail(found), _PAGE_TYPE)

    def _is_for_us(self) -> bool:
        return self.headers.get("Host", "") in {f"{name}:{self.server.port}" for name in _NAMES}

    def _body(self) -> bytes | None:
        """What was sent; None if it was refused, which ends the connection."""
        length = self.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and int(length[:9]) <= BODY_BYTES_MAX:
            return self.rfile.read(int(length))
        self.close_connection = True
        self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Send a Content-Length, at most 1 MiB.")
        return None

    def _answer(
        self, status: HTTPStatus, text: str = "", kind: str = "text/plain; charset=utf-8"
    ) -> None:
        content = text.encode("utf-8", "replace")  # JSON may name half a character
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def version_string(self) -> str:
        return "ballast-receiver"

    def log_message(self, *_: object) -> None:
        """Log nothing: the page shows what came."""


def serve(home: Path) -> None:
    """Run until a signal ends the process."""
    with open_in(home) as server:
        server.serve_forever()
