"""Client of the Ballast API: `Ballast` for ordinary code, `AsyncBallast` for asyncio.

    with Ballast("bal_test_…") as ballast:
        source = ballast.send(calls.link_account(token, account_id, account_holder_name="Acme"))
        funding = ballast.send(calls.top_up(25_000, funding_source_id=source["id"]))

Amounts are integer cents. Objects are the API's own JSON, typed in `ballast_client.types`.
"""

from __future__ import annotations

from ballast_client import calls
from ballast_client.clients import AsyncBallast, Ballast
from ballast_client.errors import (
    ApiError,
    BallastError,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    InvalidSignature,
    NotFound,
    RateLimited,
    Refused,
    ServerError,
    Unauthenticated,
)
from ballast_client.webhooks import verify

__all__ = [
    "ApiError",
    "AsyncBallast",
    "Ballast",
    "BallastError",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "InvalidRequest",
    "InvalidSignature",
    "NotFound",
    "RateLimited",
    "Refused",
    "ServerError",
    "Unauthenticated",
    "calls",
    "verify",
]
