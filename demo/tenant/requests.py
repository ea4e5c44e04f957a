"""A few calls with the demo key, through the whole interface: the request log has lines to show."""

from __future__ import annotations

from django.test import Client

from api import request_log

_READS = (
    "/api/v1/balance/summary",
    "/api/v1/balance/transactions?limit=20",
    "/api/v1/funding/transactions",
    "/api/v1/payments?limit=10",
    "/api/v1/payments/pay_00000000000000000000000000",
)


def send(*, api_key: str) -> None:
    """Reads, one of them of a payment that does not exist, and a top-up that is refused."""
    client = Client(
        headers={"Authorization": f"Bearer {api_key}"},
        SERVER_NAME="localhost",
        raise_request_exception=False,
    )
    for path in _READS:
        client.get(path)
    client.post("/api/v1/balance/topup", {"amount": 0}, content_type="application/json")
    request_log.flush()
