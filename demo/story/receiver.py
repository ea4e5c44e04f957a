"""A webhook receiver as an integrator would write it: verify first, then believe."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError


@dataclass(frozen=True)
class Received:
    """One delivery, and whether each of its two signatures is right."""

    event: dict[str, Any]
    hex_signature_ok: bool
    standard_signature_ok: bool


class Receiver:
    """Listens on a loopback port of its own until the process ends."""

    def __init__(self) -> None:
        self.secret = ""
        self.received: list[Received] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hooks"

    def find(self, *, payment_id: str, type: str) -> Received | None:
        for item in list(self.received):
            if (item.event["data"]["paymentId"], item.event["type"]) == (payment_id, type):
                return item
        return None

    def _take(self, headers: dict[str, str], body: bytes) -> None:
        expected = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        try:
            Webhook(self.secret).verify(body.decode(), headers)
            standard_ok = True
        except WebhookVerificationError:
            standard_ok = False
        self.received.append(
            Received(
                event=json.loads(body),
                hex_signature_ok=hmac.compare_digest(
                    expected, headers.get("x-webhook-signature", "")
                ),
                standard_signature_ok=standard_ok,
            )
        )

    def _handler(receiver) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver._take({name.lower(): value for name, value in self.headers.items()}, body)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Log nothing: the story prints what matters."""

        return Handler
