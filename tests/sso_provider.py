"""An OpenID Connect provider on loopback: `oidc-provider-mock`, a real HTTP server, and around it
what makes a provider behave badly. ID tokens are signed anew, so that tests choose what they
say."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import oidc_provider_mock
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client
from werkzeug.serving import BaseWSGIServer, make_server

from tenants.sso.connections import OpenIdConnect

CLIENT_ID = "ballast"
SECRET = "s3cret-of-the-client-canary"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)

Wsgi = Callable[..., Iterable[bytes]]


@dataclass
class Provider:
    """`claims` are said of everybody, besides their address; None leaves one out. `sign` makes the
    token of its claims. `answers` are sent instead of the mock's, by path."""

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    discovery: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    sign: Callable[[Mapping[str, Any]], str] = lambda claims: jwt.encode(
        dict(claims), KEY, algorithm="RS256", headers={"kid": "k1"}
    )
    challenges: dict[str, str] = field(default_factory=dict)  # of PKCE, by code

    def leave(self, browser: Client, *, connection: str = "acme-idp", query: str = "") -> str:
        """Send the browser away; returns where to."""
        answer = browser.get(f"/accounts/sso/{connection}/{query}")
        assert answer.status_code == 302, answer.content.decode()
        return str(answer["Location"])

    def authorize(self, address: str, *, email: str, subject: str = "") -> str:
        """Sign in at the provider; returns the address of ours that it leads back to."""
        subject = subject or f"sub-{email}"
        requests.put(
            f"{self.url}/users/{subject}", json={"email": email, "email_verified": True}, timeout=5
        ).raise_for_status()
        answer = requests.post(address, data={"sub": subject}, allow_redirects=False, timeout=5)
        back = urlsplit(answer.headers["Location"])
        return f"{back.path}?{back.query}"

    def sign_in(
        self,
        browser: Client,
        email: str,
        *,
        subject: str = "",
        connection: str = "acme-idp",
        query: str = "",
    ) -> Any:
        """What we answer somebody who comes back from the provider."""
        away = self.leave(browser, connection=connection, query=query)
        return browser.get(self.authorize(away, email=email, subject=subject))


@contextmanager
def playing() -> Iterator[Provider]:
    """The provider while it runs."""
    provider = Provider()
    mock = oidc_provider_mock.app()
    server: BaseWSGIServer = make_server("localhost", 0, _around(mock, provider), threaded=True)
    provider.url = f"http://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def sending_headers_for_ever() -> Iterator[str]:
    """The address of a provider that begins to answer and never comes to the end of its headers."""
    with socket.create_server(("localhost", 0)) as server:
        thread = threading.Thread(target=_send_headers, args=[server])
        thread.start()
        yield f"http://localhost:{server.getsockname()[1]}"
    thread.join()


def _send_headers(server: socket.socket) -> None:
    browser, _address = server.accept()
    with browser, suppress(OSError):  # the other side has had enough
        browser.sendall(b"HTTP/1.1 200 OK\r\n")
        for number in range(200):
            browser.sendall(f"X-{number}: x\r\n".encode())
            time.sleep(0.1)


def connection_to(provider: Provider, *, tenant: str, **values: Any) -> OpenIdConnect:
    wanted = {
        "id": "acme-idp",
        "name": "Acme ID",
        "issuer": provider.url,
        "client_id": CLIENT_ID,
        "client_secret": SECRET,
        "domains": ("acme.example",),
    }
    return OpenIdConnect(tenant=tenant, **(wanted | values))


def _around(mock: Wsgi, provider: Provider) -> Wsgi:
    def app(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path in provider.answers:
            status, body = provider.answers[path]
            start(status, [("Content-Type", "application/json")])
            return [body]
        if path == "/jwks":
            return _json(start, "200 OK", {"keys": [_public()]})
        if path == "/oauth2/authorize":
            return mock(environ, _remembering(environ, start, provider))
        if path == "/oauth2/token" and not _is_by_asker(environ, provider):
            return _json(start, "400 Bad Request", {"error": "invalid_grant"})
        changes = _CHANGES.get(path)
        if changes is None:
            return mock(environ, start)
        return _changed(mock, environ, start, changes, provider)

    return app


def _remembering(
    environ: dict[str, Any], start: Callable[..., Any], provider: Provider
) -> Callable[..., Any]:
    """Keeps the challenge that a code is asked for with (PKCE, which the mock leaves out)."""

    def begun(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        asked = parse_qs(environ["QUERY_STRING"])
        given = parse_qs(urlsplit(dict(headers).get("Location", "")).query)
        if "code" in given and asked.get("code_challenge_method") == ["S256"]:
            provider.challenges[given["code"][0]] = asked["code_challenge"][0]
        return start(status, headers, *rest)

    return begun


def _is_by_asker(environ: dict[str, Any], provider: Provider) -> bool:
    """Whether whoever sends the code knows the secret that it was asked for with."""
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    environ["wsgi.input"] = io.BytesIO(body)
    sent = parse_qs(body.decode())
    digest = hashlib.sha256(sent["code_verifier"][0].encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    return provider.challenges.get(sent["code"][0]) == challenge


def _changed(
    mock: Wsgi,
    environ: dict[str, Any],
    start: Callable[..., Any],
    change: Callable[[dict[str, Any], Provider], None],
    provider: Provider,
) -> Iterable[bytes]:
    said: list[Any] = []
    body = b"".join(mock(environ, lambda *args: said.append(args)))
    found = json.loads(body)
    if said[0][0].startswith("200"):
        change(found, provider)
    return _json(start, said[0][0], found)


def _json(start: Callable[..., Any], status: str, found: Any) -> list[bytes]:
    body = json.dumps(found).encode()
    start(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def _change_discovery(found: dict[str, Any], provider: Provider) -> None:
    found |= provider.discovery


def _change_token(found: dict[str, Any], provider: Provider) -> None:
    claims = jwt.decode(found["id_token"], options={"verify_signature": False})
    claims |= {"auth_time": int(time.time())} | provider.claims
    said = {name: value for name, value in claims.items() if value is not None}
    found["id_token"] = provider.sign(said)


_CHANGES = {
    "/.well-known/openid-configuration": _change_discovery,
    "/oauth2/token": _change_token,
}


def _public() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
    return found | {"kid": "k1", "use": "sig", "alg": "RS256"}
