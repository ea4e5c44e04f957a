"""A server that plays Plaid on loopback: its API by the reference, and the script of its module."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from networks.links.plaid import PlaidLinks

CLIENT_ID = "client-of-ballast"
SECRET = "s3cret-of-ballast-canary"
NUMBER = "1111222233330000"
ACCOUNT_ID = "BxBXxLj1m4HMXBm9WZZmCWVbPjX16EHwv99vp"
PROCESSOR_TOKEN = "processor-sandbox-b0e2c4ee-a763-4df5-bfe9-46a46bce993d"
PUBLIC_TOKEN = "public-sandbox-5c224a01-8314-4491-a06f-39e193d5cddc"
ACCESS_TOKEN = "access-sandbox-7c69d345-fda9-4f5e-8a2b-000000000001"
ERROR_TYPES = {
    "ITEM_LOGIN_REQUIRED": "ITEM_ERROR",
    "INVALID_API_KEYS": "INVALID_INPUT",
    "INTERNAL_SERVER_ERROR": "API_ERROR",
}


def account(**changes: Any) -> dict[str, Any]:
    """An account as the reference shows it."""
    return {
        "account_id": ACCOUNT_ID,
        "balances": {
            "available": 100,
            "current": 110,
            "limit": None,
            "iso_currency_code": "USD",
            "unofficial_currency_code": None,
        },
        "mask": "0000",
        "name": "Plaid Checking",
        "official_name": "Plaid Gold Checking",
        "type": "depository",
        "subtype": "checking",
        "holder_category": "business",
        **changes,
    }


def ach(**changes: Any) -> dict[str, Any]:
    return {
        "account_id": ACCOUNT_ID,
        "account": NUMBER,
        "routing": "011401533",
        "wire_routing": "021000021",
        "is_tokenized_account_number": False,
        "can_transfer_in": True,
        "can_transfer_out": True,
        **changes,
    }


ITEM = {
    "item_id": "M5eVJqLnv3tbzdngLDp9FL5OlDNxlNhlE55op",
    "institution_id": "ins_109508",
    "institution_name": "First Platypus Bank",
    "webhook": None,
    "error": None,
    "available_products": ["balance"],
    "billed_products": ["auth"],
    "consent_expiration_time": None,
    "update_type": "background",
}


def error(code: str) -> dict[str, Any]:
    return {
        "error_type": ERROR_TYPES.get(code, "ITEM_ERROR"),
        "error_code": code,
        "error_message": f"a message about {NUMBER} that may change",
        "display_message": None,
        "request_id": "HNTDNrA8F1shFEW",
    }


@dataclass(frozen=True)
class Reply:
    """What to answer instead: `body` is sent as it is after `seconds`; an empty one hangs up."""

    body: bytes = b""
    status: int = 200
    seconds: float = 0


@dataclass
class FakePlaid:
    """`next_replies` go first, in order, by path; `account` and `ach` are what the bank tells."""

    url: str = ""
    account: dict[str, Any] = field(default_factory=account)
    ach: dict[str, Any] | None = field(default_factory=ach)
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    exchanges: list[tuple[str, dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    next_replies: defaultdict[str, list[Reply]] = field(default_factory=lambda: defaultdict(list))
    consents: set[str] = field(default_factory=set)
    public_tokens: set[str] = field(default_factory=lambda: {PUBLIC_TOKEN})
    files: dict[str, tuple[str, str]] = field(default_factory=dict)  # path: type and text

    def paths(self) -> list[str]:
        return [path for path, _headers, _body in self.requests]

    def bodies(self, path: str) -> list[dict[str, Any]]:
        return [body for asked, _headers, body in self.requests if asked == path]

    def refuses(self, path: str, code: str, *, status: int = 400) -> None:
        """Answer the next request for `path` with this error."""
        self.next_replies[path].append(Reply(json.dumps(error(code)).encode(), status))

    def answers(self, path: str, reply: Reply) -> None:
        self.next_replies[path].append(reply)

    def reply_to(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        self.requests.append((path, headers, body))
        if self.next_replies[path]:
            return self.next_replies[path].pop(0)
        if (headers.get("plaid-client-id"), headers.get("plaid-secret")) != (CLIENT_ID, SECRET):
            return _reply(error("INVALID_API_KEYS"), 400)
        found = self._answer(path, body)
        self.exchanges.append((path, body, {"request_id": "x", **found}))
        return _reply(found, 400 if "error_code" in found else 200)

    def _answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        match path:
            case "/processor/auth/get":
                if body["processor_token"] != PROCESSOR_TOKEN:
                    return error("INVALID_PROCESSOR_TOKEN")
                return {"account": self.account, "numbers": {"ach": self.ach}}
            case "/link/token/create":
                token = f"link-sandbox-{len(self.requests)}"
                return {"link_token": token, "expiration": "2026-11-21T13:00:00Z"}
            case "/item/public_token/exchange":
                return self._exchange(body["public_token"])
            case "/auth/get":
                return self._numbers(body)
            case "/item/remove":
                if body["access_token"] not in self.consents:
                    return error("ITEM_NOT_FOUND")
                self.consents.remove(body["access_token"])
                return {}
        return error("NOT_FOUND")

    def _exchange(self, public_token: str) -> dict[str, Any]:
        if public_token not in self.public_tokens:
            return error("INVALID_PUBLIC_TOKEN")
        self.public_tokens.remove(public_token)
        self.consents.add(ACCESS_TOKEN)
        return {"access_token": ACCESS_TOKEN, "item_id": ITEM["item_id"]}

    def _numbers(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["access_token"] not in self.consents:
            return error("INVALID_ACCESS_TOKEN")
        if body["options"]["account_ids"] != [self.account["account_id"]]:
            return error("INVALID_ACCOUNT_ID")
        numbers = {"ach": [self.ach] if self.ach else [], "eft": [], "international": []}
        return {"accounts": [self.account], "numbers": numbers | {"bacs": []}, "item": ITEM}


def _reply(found: dict[str, Any], status: int) -> Reply:
    return Reply(json.dumps({"request_id": "m8MDnv9okwxFNBV", **found}).encode(), status)


def provider_at(host: str, **changes: Any) -> PlaidLinks:
    """The adapter, as it is connected in the sandbox."""
    return PlaidLinks(
        **{
            "client_id": CLIENT_ID,
            "secret": SECRET,
            "environment": "sandbox",
            "host": host,
            "script_url": "https://cdn.plaid.example/link/v2/link.js",
            **changes,
        }
    )


@contextmanager
def playing() -> Iterator[FakePlaid]:
    """Plaid, until the end of the block."""
    plaid = FakePlaid()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            names = {name.lower(): value for name, value in self.headers.items()}
            reply = plaid.reply_to(self.path, names, json.loads(body))
            time.sleep(reply.seconds)
            if reply.body:
                self._send(reply.status, "application/json", reply.body)

        def do_GET(self) -> None:
            kind, text = plaid.files.get(self.path.partition("?")[0], ("text/plain", ""))
            self._send(200 if text else 404, kind, text.encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # who has read enough hangs up
                self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        plaid.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        yield plaid
        server.shutdown()


def _exchanges() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """What the adapter asks, with the answers, for checks against Plaid's own models."""
    with playing() as server:
        provider = provider_at(server.url)
        provider.exchange(PROCESSOR_TOKEN, ACCOUNT_ID)
        provider.start(person="p", return_url="https://ballast.example/back")
        consent = provider.accept(PUBLIC_TOKEN)
        provider.open(consent, ACCOUNT_ID)
        provider.revoke(consent)
        yield from server.exchanges


if __name__ == "__main__":
    for exchange in _exchanges():
        print(json.dumps(exchange))  # noqa: T201  # a command
