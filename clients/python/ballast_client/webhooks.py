"""Verifying deliveries: over the raw bytes, before anything else looks at them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import cast

from ballast_client.errors import InvalidSignature
from ballast_client.types import Event

TOLERANCE_SECONDS = 300


def verify(
    body: bytes, headers: Mapping[str, str], secret: str, *, now: float | None = None
) -> Event:
    """The event of an authentic delivery. Raises InvalidSignature.

    Checks the `webhook-signature` scheme (Standard Webhooks), which also covers the time, so an
    old delivery cannot be replayed. During a rotation any of the sent signatures may match.
    Deliveries come at least once: remember `webhook-id` and skip the ones you know.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        event_id, sent_at = lower["webhook-id"], lower["webhook-timestamp"]
        signatures = lower["webhook-signature"].split()
    except KeyError as missing:
        raise InvalidSignature(f"the header {missing} is missing") from None
    _check_time(sent_at, time.time() if now is None else now)
    expected = _signature(secret, event_id, sent_at, body)
    if not any(hmac.compare_digest(expected, given) for given in signatures):
        raise InvalidSignature("no signature matches")
    return cast("Event", json.loads(body))


def _check_time(sent_at: str, now: float) -> None:
    if not (sent_at.isascii() and sent_at.isdigit()):
        raise InvalidSignature("the timestamp is not a number")
    if abs(now - int(sent_at)) > TOLERANCE_SECONDS:
        raise InvalidSignature("the delivery is too old, or our clock is wrong")


def _signature(secret: str, event_id: str, sent_at: str, body: bytes) -> str:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise InvalidSignature("the secret is not a whsec_ secret") from None
    signed = f"{event_id}.{sent_at}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()
