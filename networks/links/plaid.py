"""Plaid, the bank-linking provider of live tenants (API version 2020-09-14).

A tenant's own program sends a processor token (`exchange`). On the dashboard Plaid's module, Link,
runs in a page of ours: `start`, `accept`, `open`, and `revoke` when the account is removed. Why
there is no client library: docs/decisions/0070.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from common import brand
from common.engine.http.addresses import parse_networks
from common.engine.http.client import Answer, post_once
from common.engine.http.exchange import ANSWER_BYTES_MAX
from common.engine.http.urls import Policy
from networks.links import plaid_answers, plaid_errors
from networks.links.base import (
    InvalidLinkToken,
    LinkedAccount,
    LinkError,
    LinkModule,
    LinkUnavailable,
)
from networks.links.plaid_answers import Malformed

API_VERSION = "2020-09-14"
# A page waits for two calls at most, and a web process gives a request 30 seconds.
TOTAL_SECONDS = 10.0
# A page may take so many threads of a web process; the others go on while Plaid is slow.
_CALLS_AT_ONCE = threading.BoundedSemaphore(2)
_TURN_SECONDS = 1.0
_TOKEN = re.compile(r"(?P<kind>processor|public)-(?P<environment>[a-z]+)-[\w-]{1,160}", re.ASCII)
_KINDS_OF_ACCOUNT = sorted(plaid_answers.ACCOUNT_TYPES)
# The operator named the host, so any address it has is allowed, also that of a gateway in a private
# network.
_ANYWHERE = parse_networks(("0.0.0.0/0", "::/0"))

Meaning = TypeVar("Meaning")


class PlaidLinks:
    """Plaid as a provider. It holds the secret and has no repr that shows it."""

    name = "plaid"

    def __init__(
        self, *, client_id: str, secret: str, environment: str, host: str, script_url: str
    ) -> None:
        """`host` and `script_url` are URLs; `environment` is the word in tokens of that host."""
        self._environment = environment
        self._host = host
        self._script_url = script_url
        self._headers = {
            "Content-Type": "application/json",
            "PLAID-CLIENT-ID": client_id,
            "PLAID-SECRET": secret,
            "Plaid-Version": API_VERSION,
        }

    @property
    def module(self) -> LinkModule:
        parts = urlsplit(self._script_url)
        return LinkModule(
            script_url=self._script_url,
            frame_source=f"{parts.scheme}://{parts.netloc}/",
            connect_source=f"{self._host}/",
        )

    def exchange(self, token: str, account_id: str) -> LinkedAccount:
        self._require("processor", token)
        found = self._ask("/processor/auth/get", {"processor_token": token})
        return _parsed(plaid_answers.processor_account, found, account_id)

    def start(self, *, person: str, return_url: str | None) -> str:
        wanted: dict[str, Any] = {
            # What people read in Plaid's window: to whom they give access.
            "client_name": brand.name(),
            "language": "en",
            "country_codes": ["US"],
            "products": ["auth"],
            "user": {"client_user_id": person},
            "account_filters": {"depository": {"account_subtypes": _KINDS_OF_ACCOUNT}},
        }
        if return_url:
            wanted["redirect_uri"] = return_url
        try:
            found = self._ask("/link/token/create", wanted)
        except LinkError as error:  # nothing here is the customer's fault
            raise LinkUnavailable("no link token") from error
        return _parsed(plaid_answers.token, found, "link_token")

    def accept(self, public_token: str) -> str:
        self._require("public", public_token)
        found = self._ask("/item/public_token/exchange", {"public_token": public_token})
        return _parsed(plaid_answers.token, found, "access_token")

    def open(self, consent: str, account_id: str) -> LinkedAccount:
        wanted = {"access_token": consent, "options": {"account_ids": [account_id]}}
        found = self._ask("/auth/get", wanted)
        return _parsed(plaid_answers.item_account, found, account_id)

    def revoke(self, consent: str) -> None:
        try:
            self._ask("/item/remove", {"access_token": consent})
        except InvalidLinkToken:
            return  # it has ended: by us, whose answer was lost, or by the customer at the bank

    def _require(self, kind: str, token: str) -> None:
        """Raises InvalidLinkToken for text that is not a token of this kind and environment,
        without asking Plaid."""
        match = _TOKEN.fullmatch(token)
        if match is None or (match["kind"], match["environment"]) != (kind, self._environment):
            raise InvalidLinkToken(f"not a {kind} token of this environment")

    def _ask(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The object that Plaid answers with. Raises LinkError."""
        if not _CALLS_AT_ONCE.acquire(timeout=_TURN_SECONDS):
            raise plaid_errors.no_answer(path, "too many calls at once")
        try:
            answer = self._post(path, json.dumps(body).encode())
        finally:
            _CALLS_AT_ONCE.release()
        if answer.status is None:
            raise plaid_errors.no_answer(path, str(answer.failure))
        if not answer.is_success:
            raise plaid_errors.refusal(path, answer.status, _object(answer))
        if (found := _object(answer)) is None:
            raise plaid_errors.no_answer(path, "not a JSON object")
        return found

    def _post(self, path: str, body: bytes) -> Answer:
        return post_once(
            Policy(allowed_networks=_ANYWHERE),
            self._host + path,
            body=body,
            headers=self._headers,
            allow_http=True,
            total_seconds=TOTAL_SECONDS,
        )


def _object(answer: Answer) -> Mapping[str, Any] | None:
    """The JSON object in an answer; None for anything else, and for an answer that was cut off."""
    if len(answer.body) >= ANSWER_BYTES_MAX:
        return None
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _parsed(
    parse: Callable[[Mapping[str, Any], str], Meaning], found: Mapping[str, Any], wanted: str
) -> Meaning:
    try:
        return parse(found, wanted)
    except Malformed as error:
        raise plaid_errors.no_answer(parse.__name__, str(error)) from error
