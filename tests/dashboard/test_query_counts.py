"""What each page about money costs the database: the same for one row as for many."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from balance import services as ledger
from common.clock import utc_now
from funding.models import AutoFundingDecision
from funding.services import confirmation_sweeps
from funding.states import FundingStatus
from tests.balance.builders import fund, movement
from tests.builders import (
    NOW,
    make_auto_funding,
    make_endpoint,
    make_funding,
    make_source,
)
from tests.funding.builders import top_up

# The most queries of each page, the session, the person and the memberships included.
PAGES = {
    "/dashboard/": 14,
    "/dashboard/?days=90": 14,
    "/dashboard/balance-chart": 6,
    "/dashboard/transactions": 6,
    "/dashboard/transactions?type=lock&since=2026-01-01": 7,
    "/dashboard/statements": 6,
    f"/dashboard/statements/{NOW:%Y-%m}": 8,
    "/dashboard/funding": 6,
    "/dashboard/funding?show=failed": 6,
    "/dashboard/topup/": 8,
    "/dashboard/auto-funding": 12,
    "/dashboard/auto-funding/settings": 13,
    "/dashboard/approvals": 8,
    "/dashboard/bank-accounts": 6,
}


@pytest.fixture
def source(acme):
    make_auto_funding(acme, confirm_topups=True, confirmation_threshold=1)
    return make_source(acme)


def grow(tenant, source, rows):
    """One more of everything, `rows` times: decided and open approvals, lines, funding."""
    for _ in range(rows):
        top_up(tenant, source=source, now=utc_now())
    confirmation_sweeps.sweep(now=utc_now().replace(year=utc_now().year + 1))
    for number in range(rows):
        top_up(tenant, source=source, now=utc_now())
        make_funding(tenant, source, status=FundingStatus.FAILED)
        make_source(tenant, account_number=f"50001{number}{rows}")
        fund(tenant, 100_000)
        ledger.lock(**movement(tenant, 100))
        make_endpoint(tenant, consecutive_failures=2)
        AutoFundingDecision.objects.create(
            tenant=tenant,
            outcome="declined",
            reason="no_network",
            available=0,
            in_flight=0,
            threshold=0,
            amount=1,
            created_at=NOW,
        )


def costs(browser):
    found = {}
    for path in PAGES:
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(path).status_code == 200
        found[path] = len(queries)
    return found


def test_pages_stay_within_their_bounds_and_cost_the_same_for_many_rows(acme, source, dana_browser):
    grow(acme, source, 1)
    few = costs(dana_browser)

    grow(acme, source, 8)

    assert costs(dana_browser) == few
    assert {path: few[path] for path in PAGES if few[path] > PAGES[path]} == {}
