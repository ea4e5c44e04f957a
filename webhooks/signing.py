"""The signatures of a delivery (`docs/api.md`).

`X-Webhook-Signature` is the interface's own scheme: lowercase hex HMAC-SHA256 of the raw body,
keyed with the whole secret string. The `webhook-*` headers are Standard Webhooks: they sign id,
time and body, so a receiver can refuse a replay. While a secret is being rotated both sign.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime

PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """`whsec_` and the base64 of 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def headers(
    *, event_id: str, body: bytes, secret: str, previous_secret: str | None, now: datetime
) -> Mapping[str, str]:
    """The signature headers of one try at `now`. `previous_secret` is an older one that still signs
    too."""
    timestamp = str(int(now.timestamp()))
    keys = [secret, previous_secret] if previous_secret else [secret]
    signed = {
        "X-Webhook-Signature": hex_signature(secret, body),
        "webhook-id": event_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(
            standard_signature(key, event_id, timestamp, body) for key in keys
        ),
    }
    if previous_secret:
        signed["X-Webhook-Signature-Previous"] = hex_signature(previous_secret, body)
    return signed


def hex_signature(secret: str, body: bytes) -> str:
    """64 hex digits: HMAC-SHA256 of the body, keyed with the secret as UTF-8."""
    return hmac.digest(secret.encode(), body, "sha256").hex()


def standard_signature(secret: str, event_id: str, timestamp: str, body: bytes) -> str:
    """`v1,<base64>` of HMAC-SHA256 over `id.timestamp.body`, keyed with the decoded secret."""
    key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    content = b".".join((event_id.encode(), timestamp.encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, content, "sha256")).decode()
