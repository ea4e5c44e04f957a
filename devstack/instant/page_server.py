"""Serves the payer's bank on the loopback address, over plain HTTP: a person looks at it."""

from __future__ import annotations

import hmac
import secrets
import sys
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from devstack.instant import page, requests, store
from devstack.instant.clock import written
from devstack.instant.keys import HOST
from devstack.instant.operator import Operator
from devstack.instant.profiles import PROFILES

SHOWN_MAX = 200
_BODY_BYTES_MAX = 10_000
_SILENCE_SECONDS = 15
_PAGE_TYPE = "text/html; charset=utf-8"
_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none';"
        " form-action 'self'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
)


class PayersBank(ThreadingHTTPServer):
    """Listens at `port` of this machine, or where that is taken (or 0) at any free one."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, operator: Operator, *, port: int = 0) -> None:
        self.operator = operator
        self.token = secrets.token_urlsafe(16)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError:
            super().__init__((HOST, 0), _Handler)
        self.port = int(self.server_address[1])

    def start(self) -> None:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller who goes away or is not known is no fault of ours; anything else is told."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: PayersBank
    timeout = _SILENCE_SECONDS
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        first, _, rest = address.path.removeprefix("/").partition("/")
        number = parse_qs(address.query).get("number", [""])[0].strip()
        if not self._is_for_us():
            self._nothing()
        elif address.path == "/":
            self._show(self._holders())
        elif address.path == "/style.css":
            style = Path(__file__).with_name("style.css").read_text()
            self._say(HTTPStatus.OK, style, "text/css; charset=utf-8")
        elif first == "accounts" and not rest and number:
            self._go(f"/accounts/{quote(number, safe='')}")
        elif first == "accounts" and rest:
            self._show(self._account(unquote(rest)))
        elif first == "requests" and _is_number(rest):
            self._request(int(rest))
        else:
            self._nothing()

    def do_POST(self) -> None:
        first, _, rest = self.path.removeprefix("/").partition("/")
        form = self._form()
        if form is None:
            return
        is_ours = hmac.compare_digest(form.get("token", ""), self.server.token)
        if not (self._is_for_us() and is_ours and first == "requests" and _is_number(rest)):
            self._nothing()
        else:
            self._decide(int(rest), form.get("answer", ""))

    def _holders(self) -> str:
        operator = self.server.operator
        with operator.looking() as db:
            rows = db.execute(
                "SELECT debtor_account, max(debtor_name) AS debtor_name,"
                " sum(status IN ('waiting', 'shown') AND expires_at > ?) AS waiting"
                " FROM request GROUP BY debtor_account"
                " ORDER BY waiting > 0 DESC, max(id) DESC LIMIT ?",
                (written(operator.clock.now()), SHOWN_MAX),
            ).fetchall()
        return page.sign_in(rows)

    def _account(self, number: str) -> str:
        operator = self.server.operator
        with operator.looking() as db:
            rows = db.execute(
                "SELECT * FROM request WHERE debtor_account = ? ORDER BY id DESC LIMIT ?",
                (number, SHOWN_MAX),
            ).fetchall()
        return page.account(number, rows, now=written(operator.clock.now()))

    def _request(self, number: int) -> None:
        """Show a request: its payer has seen it now."""
        operator = self.server.operator
        try:
            with operator.working():
                row = store.row(operator.db, "request", number)
                requests.show(operator.desk(PROFILES[row["profile"]]), row)
        except KeyError:
            self._nothing()
            return
        now = written(operator.clock.now())
        self._show(page.request(row, now=now, token=self.server.token))

    def _decide(self, number: int, answer: str) -> None:
        operator = self.server.operator
        try:
            with operator.working():
                row = store.row(operator.db, "request", number)
                desk = operator.desk(PROFILES[row["profile"]])
                if answer == "approve":
                    requests.approve(desk, row)
                else:
                    requests.refuse(desk, row)
        except KeyError:
            self._nothing()
        except requests.NotOpen as problem:
            text = f"Nothing was paid: {problem}."
            self._say(HTTPStatus.CONFLICT, page.problem("Too late", text), _PAGE_TYPE)
        else:
            self._go(f"/requests/{number}")

    def _form(self) -> dict[str, str] | None:
        """The fields of a form; None if it was refused, which ends the connection."""
        length = self.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and int(length[:9]) <= _BODY_BYTES_MAX:
            fields = parse_qs(self.rfile.read(int(length)).decode(errors="replace"))
            return {name: values[0] for name, values in fields.items()}
        self.close_connection = True
        self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Too much.", "text/plain")
        return None

    def _is_for_us(self) -> bool:
        names = {f"{name}:{self.server.port}" for name in (HOST, "localhost")}
        return self.headers.get("Host", "") in names

    def _nothing(self) -> None:
        text = page.problem("Nothing here", "There is no such page.")
        self._say(HTTPStatus.NOT_FOUND, text, _PAGE_TYPE)

    def _show(self, text: str) -> None:
        self._say(HTTPStatus.OK, text, _PAGE_TYPE)

    def _go(self, path: str) -> None:
        self._say(HTTPStatus.SEE_OTHER, "", _PAGE_TYPE, {"Location": path})

    def _say(
        self,
        status: HTTPStatus,
        text: str,
        kind: str,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        content = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in (*_HEADERS.items(), *more.items()):
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def version_string(self) -> str:
        return "riverbank"

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
