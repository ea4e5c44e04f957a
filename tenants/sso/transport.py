"""Requests to providers, bounded in time and bytes.

They trust the certificates that the rest of the product trusts, and take neither proxy nor login
from the environment. They follow no redirect. Operators name the hosts (decision 0203), so any
address of these is allowed.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from tenants.sso.connections import OpenIdConnect

TOTAL_SECONDS = 10.0
_WAIT_SECONDS = 5.0  # for a connection, for all headers, and for the next bytes of the body
_BYTES_MAX = 256 * 1024
_CHUNK = 16 * 1024
# So many threads of a web process may wait for providers; the others go on while one is slow.
_AT_ONCE = threading.BoundedSemaphore(3)
# Of these, two for one host: a slow provider keeps only its own people waiting.
_OF_HOST: dict[str, threading.BoundedSemaphore] = defaultdict(lambda: threading.BoundedSemaphore(2))
_TURN_SECONDS = 1.0


class ProviderAway(requests.RequestException):
    """The provider did not answer in time, or answered what it never should."""


class _Connection(HTTPConnection):
    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 has it
        with _ended_in_time(self.sock):
            return super().getresponse()


class _SafeConnection(HTTPSConnection):
    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 has it
        with _ended_in_time(self.sock):
            return super().getresponse()


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SafePool(HTTPSConnectionPool):
    ConnectionCls = _SafeConnection


class _Adapter(HTTPAdapter):
    """urllib3 bounds the wait for the next bytes of the headers, not for all of them."""

    def init_poolmanager(self, *args: Any, **values: Any) -> None:
        super().init_poolmanager(*args, **values)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SafePool}


class Session(requests.Session):
    """django-allauth's requests, and ours, go through it."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        for scheme in ("http://", "https://"):
            self.mount(scheme, _Adapter())
        trusted = ssl.get_default_verify_paths()
        self.verify = trusted.cafile or trusted.capath or True
        self.headers["Accept"] = "application/json"
        self.headers["Accept-Encoding"] = "identity"

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """The answer, read to its end. Raises requests.RequestException."""
        with _turn(_OF_HOST[urlsplit(str(url)).netloc]), _turn(_AT_ONCE):
            until = time.monotonic() + TOTAL_SECONDS
            bounds = {"timeout": _WAIT_SECONDS, "allow_redirects": False, "stream": True}
            with super().request(method, url, *args, **{**kwargs, **bounds}) as answer:
                _read(answer, until)
            return answer


def get_object(url: str) -> Mapping[str, Any]:
    """The JSON object at this address. Raises requests.RequestException."""
    with Session() as session:
        answer = session.get(url)
    if answer.status_code != requests.codes.ok:
        raise ProviderAway(f"answered {answer.status_code}")
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError):
        raise ProviderAway("answered no JSON") from None
    if not isinstance(found, dict):
        raise ProviderAway("answered no JSON object")
    return found


def is_of(connection: OpenIdConnect, url: object) -> bool:
    """Whether the address is on a host of the connection's provider, reached as its issuer is."""
    try:
        parts, issuer = urlsplit(str(url)), urlsplit(connection.issuer)
    except ValueError:
        return False
    return parts.scheme == issuer.scheme and parts.netloc.lower() in {
        issuer.netloc.lower(),
        *connection.hosts,
    }


@contextmanager
def _turn(slots: threading.BoundedSemaphore) -> Iterator[None]:
    """Hold one of the slots. Raises ProviderAway if none is free within `_TURN_SECONDS`."""
    if not slots.acquire(timeout=_TURN_SECONDS):
        raise ProviderAway("too many requests to providers at once")
    try:
        yield
    finally:
        slots.release()


@contextmanager
def _ended_in_time(connection: socket.socket) -> Iterator[None]:
    """End the connection unless the block is through within `_WAIT_SECONDS`."""
    timer = threading.Timer(_WAIT_SECONDS, _end, args=[connection])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end(connection: socket.socket) -> None:
    """Let whoever reads from it find its end. TLS, which the reader is in, is left alone."""
    with suppress(OSError):  # it broke off meanwhile
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _read(answer: requests.Response, until: float) -> None:
    """Read the body into the answer. Raises ProviderAway."""
    body = bytearray()
    try:
        while chunk := answer.raw.read1(_CHUNK):
            body += chunk
            if len(body) > _BYTES_MAX or time.monotonic() > until:
                raise ProviderAway("answered too much, or too slowly")
    except OSError as error:
        raise ProviderAway("broke off its answer") from error
    answer._content = bytes(body)
