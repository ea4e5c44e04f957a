"""Requests to providers, bounded in time and bytes.

They trust the certificates that the rest of the product trusts, and take neither proxy nor login
from the environment. They follow no redirect. Operators name the hosts (decision 0203), so any
address of these is allowed.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import requests

from tenants.sso.connections import Connection

TOTAL_SECONDS = 10.0
_WAIT_SECONDS = 5.0  # for a connection, and for the next bytes
_BYTES_MAX = 256 * 1024
_CHUNK = 16 * 1024
# So many threads of a web process may wait for providers; the others go on while one is slow.
_AT_ONCE = threading.BoundedSemaphore(2)
_TURN_SECONDS = 1.0


class ProviderAway(requests.RequestException):
    """The provider did not answer in time, or answered what it never should."""


class Session(requests.Session):
    """django-allauth's requests, and ours, go through it."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        trusted = ssl.get_default_verify_paths()
        self.verify = trusted.cafile or trusted.capath or True
        self.headers["Accept"] = "application/json"
        self.headers["Accept-Encoding"] = "identity"

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """The answer, read to its end. Raises requests.RequestException."""
        if not _AT_ONCE.acquire(timeout=_TURN_SECONDS):
            raise ProviderAway("too many requests to providers at once")
        try:
            until = time.monotonic() + TOTAL_SECONDS
            bounds = {"timeout": _WAIT_SECONDS, "allow_redirects": False, "stream": True}
            with super().request(method, url, *args, **{**kwargs, **bounds}) as answer:
                _read(answer, until)
            return answer
        finally:
            _AT_ONCE.release()


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


def is_of(connection: Connection, url: object) -> bool:
    """Whether the address is on a host of the connection's provider, reached as its issuer is."""
    try:
        parts, issuer = urlsplit(str(url)), urlsplit(connection.issuer)
    except ValueError:
        return False
    return parts.scheme == issuer.scheme and parts.netloc.lower() in {
        issuer.netloc.lower(),
        *connection.hosts,
    }


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
