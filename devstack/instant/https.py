"""The door: HTTPS on the loopback address, for one participant, known by its certificates.

POST {base}/messages              a message (application/xml): 202, or 422 if it is not taken
GET  {base}/messages?limit=&wait= messages for the participant, as JSON, oldest first
POST {base}/messages/acknowledge  {"ids": [...]}: these are handed out no more

The base is /rtp or /fednow.
"""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import ssl
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from devstack.instant import faults, keys
from devstack.instant.envelope import Unreadable
from devstack.instant.operator import Operator
from devstack.instant.profiles import PROFILES, Profile
from devstack.instant.taking import Outcome

BODY_BYTES_MAX = 2 * 1024 * 1024
WAIT_SECONDS_MAX = 60.0
LIMIT_DEFAULT = 100
_SILENCE_SECONDS = 90
_HANDSHAKE_SECONDS = 10


class Door:
    """Listens while nothing forbids it, with the right key or another one."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._server: _Server | None = None
        self._key = ""
        self.port = 0

    def start(self, port: int) -> None:
        """Listen on a port, or on any free one if it is 0 or taken."""
        try:
            self._listen(port)
        except OSError:
            self._listen(0)

    def adjust(self) -> None:
        """Do as the switches say."""
        with self._operator.looking() as db:
            refuses = "refuse_connection" in faults.active(db)
        if self._server is not None and (refuses or self._key != self._key_now()):
            self.stop()
        if self._server is None and not refuses:
            self._listen(self.port)
        if self._server is not None:
            self._trust(self._server.context)

    def stop(self) -> None:
        """Listen no longer; open connections break."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.break_lines()
            self._server = None

    def _listen(self, port: int) -> None:
        self._key = self._key_now()
        self._server = _Server(self._operator, port=port, context=self._context())
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def _key_now(self) -> str:
        with self._operator.looking() as db:
            if "other_key" in faults.active(db):
                return keys.OTHER_SERVER
            row = db.execute("SELECT value FROM setting WHERE name = 'server_key'").fetchone()
        return str(row[0]) if row else keys.SERVER

    def _context(self) -> ssl.SSLContext:
        folder = self._operator.home / "keys"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(
            keys.certificate_path(folder, self._key), keys.key_path(folder, self._key)
        )
        self._trust(context)
        return context

    def _trust(self, context: ssl.SSLContext) -> None:
        """Know callers by these certificates, from the next connection on."""
        for path in keys.trusted(self._operator.home / "keys"):
            context.load_verify_locations(path)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, operator: Operator, *, port: int, context: ssl.SSLContext) -> None:
        self.operator = operator
        self.context = context
        self._lines: set[socket.socket] = set()
        super().__init__((keys.HOST, port), _Handler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Greet in the thread of the connection: a silent caller keeps nobody waiting."""
        request.settimeout(_HANDSHAKE_SECONDS)
        line = self.context.wrap_socket(request, server_side=True)
        self._lines.add(line)
        try:
            super().finish_request(line, client_address)
        finally:
            self._lines.discard(line)
            line.close()

    def break_lines(self) -> None:
        for line in list(self._lines):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller who goes away or is not known is no fault of ours; anything else is told."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Broken(Exception):
    """The line breaks here."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _SILENCE_SECONDS
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self._do(self._post)

    def do_GET(self) -> None:
        self._do(self._get)

    def _do(self, work: Any) -> None:
        """One request, with what may go wrong before it."""
        operator = self.server.operator
        if (milliseconds := operator.strike("stall")) is not None:
            time.sleep(milliseconds / 1000)
        address = urlsplit(self.path)
        name, _, path = address.path.removeprefix("/").partition("/")
        profile = PROFILES.get(name)
        try:
            body = self._body()
            if profile is None:
                self._say(HTTPStatus.NOT_FOUND, {"reason": "there is nothing here"})
            elif operator.strike("unavailable") is not None:
                self._say(HTTPStatus.SERVICE_UNAVAILABLE, {"reason": "try again later"})
            else:
                work(profile, path, address.query, body)
        except _Broken:
            self.close_connection = True

    def _post(self, profile: Profile, path: str, _query: str, body: bytes) -> None:
        if path == "messages":
            self._take(profile, body)
        elif path == "messages/acknowledge":
            self._acknowledge(profile, body)
        else:
            self._say(HTTPStatus.NOT_FOUND, {"reason": "there is nothing here"})

    def _take(self, profile: Profile, body: bytes) -> None:
        operator = self.server.operator
        if operator.strike("close_before") is not None:
            raise _Broken
        try:
            outcome = operator.take(profile, body)
        except Unreadable as problem:
            refusal = {"code": problem.reason, "reason": str(problem)}
            self._say(HTTPStatus.UNPROCESSABLE_ENTITY, refusal)
            return
        if outcome is Outcome.LINE_BREAKS or operator.strike("close_after") is not None:
            raise _Broken
        self._say(HTTPStatus.ACCEPTED)

    def _acknowledge(self, profile: Profile, body: bytes) -> None:
        try:
            ids = [int(each) for each in json.loads(body)["ids"]]
        except (ValueError, KeyError, TypeError):
            self._say(HTTPStatus.BAD_REQUEST, {"reason": 'send {"ids": ["1", ...]}'})
            return
        self._say(HTTPStatus.OK, {"acknowledged": self.server.operator.acknowledge(profile, ids)})

    def _get(self, profile: Profile, path: str, query: str, _body: bytes) -> None:
        if path != "messages":
            self._say(HTTPStatus.NOT_FOUND, {"reason": "there is nothing here"})
            return
        given = parse_qs(query)
        try:
            limit = int(given.get("limit", [str(LIMIT_DEFAULT)])[0])
            wait = float(given.get("wait", ["0"])[0])
        except ValueError:
            self._say(HTTPStatus.BAD_REQUEST, {"reason": "limit and wait are numbers"})
            return
        rows = self.server.operator.fetch(
            profile, limit=max(1, limit), wait=min(max(0.0, wait), WAIT_SECONDS_MAX)
        )
        messages = [
            {"id": str(row["id"]), "content": base64.b64encode(row["content"]).decode()}
            for row in rows
        ]
        self._say(HTTPStatus.OK, {"messages": messages})

    def _body(self) -> bytes:
        """What was sent. Raises _Broken for too much, which ends the connection."""
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:9]) > BODY_BYTES_MAX:
            self.close_connection = True
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"reason": "at most 2 MiB"})
            raise _Broken
        return self.rfile.read(int(length))

    def _say(self, status: HTTPStatus, content: dict[str, Any] | None = None) -> None:
        text = json.dumps(content).encode() if content is not None else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def version_string(self) -> str:
        return "stand-in-operator"

    def log_message(self, *_: object) -> None:
        """Log nothing: the record keeps every message."""
