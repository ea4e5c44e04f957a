"""Lists of the desk stay small: at most 100 KB of HTML with fifty rows (they had up to 422)."""

from __future__ import annotations

import pytest

from tests.balance.builders import fund
from tests.builders import make_endpoint, make_funding, make_source
from tests.payments.builders import pay

ROWS = 50
BYTES_MAX = 100_000


@pytest.fixture
def busy(acme):
    """Fifty rows of what moves money, and of what tells of it."""
    source = make_source(acme)
    make_endpoint(acme)
    fund(acme, 10_000_000)
    for number in range(ROWS):
        make_funding(acme, source, amount=1_000 + number)
        pay(acme, 1_000 + number)
    return acme


@pytest.mark.parametrize(
    "path",
    [
        "balance/balancetransaction",
        "funding/fundingtransaction",
        "payments/payment",
        "tenants/auditevent",
        "webhooks/webhookdelivery",
        "webhooks/webhookevent",
    ],
)
def test_fifty_rows_take_at_most_100_kb(desk, busy, path):
    page = desk.get(f"/admin/{path}/").content

    assert page.count(b'class="data-row"') in range(1, ROWS + 1)
    assert len(page) <= BYTES_MAX
