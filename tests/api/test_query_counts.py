"""What it costs to read: as many statements for one row as for many, on every page.

The first use of a key also notes when it was used, so each path is read once before it is counted.
"""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.clock import utc_now
from funding.models import FundingSource
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tenants.models import Membership
from tests.balance.builders import fund
from tests.builders import make_endpoint, make_member, make_source, publish
from tests.funding.builders import top_up
from tests.payments.builders import pay

MANY = 6


def line(acme):
    fund(acme, 1)


def funding(acme):
    top_up(acme, source=FundingSource.objects.first() or make_source(acme))


def payment(acme):
    fund(acme, 100)
    pay(acme, 100)


def payment_to_approve(acme):
    if not Membership.objects.exists():
        make_member(acme, email="cfo@acme.example")
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=utc_now())
    fund(acme, 100)
    pay(acme, 100, now=utc_now())


def delivery(acme):
    publish(acme)


# By path: what adds a row, and how many statements reading a page takes.
LISTS = {
    "/balance/transactions": (line, 2),
    "/funding/transactions": (funding, 2),
    "/payments": (payment, 2),
    "/webhooks/{endpoint}/deliveries": (delivery, 3),
}


def cost(api, path):
    with CaptureQueriesContext(connection) as queries:
        response = api.get(path)
    assert response.status_code == 200, response.content
    return len(queries), response.json()


@pytest.mark.parametrize("path", LISTS)
def test_a_list_costs_the_same_for_one_row_and_many(acme, acme_api, path):
    make, statements = LISTS[path]
    path = "/api/v1" + path.format(endpoint=make_endpoint(acme).pk)
    make(acme)
    acme_api.get(path)
    for_one, _ = cost(acme_api, path)
    for _ in range(MANY):
        make(acme)
    for_many, page = cost(acme_api, f"{path}?limit=3")
    behind, rest = cost(acme_api, f"{path}?limit=3&cursor={page['nextCursor']}")

    assert (for_one, for_many, behind) == (statements, statements, statements)
    assert (len(page["data"]), len(rest["data"])) == (3, 3)


def test_payments_that_wait_for_approval_cost_no_query_each(acme, acme_api):
    for _ in range(MANY):
        payment_to_approve(acme)
    acme_api.get("/api/v1/payments")

    statements, page = cost(acme_api, "/api/v1/payments")

    assert statements == LISTS["/payments"][1]
    assert [row["approval"]["status"] for row in page["data"]] == ["open"] * MANY


def test_the_summary_costs_two(acme, acme_api):
    fund(acme, 1)
    acme_api.get("/api/v1/balance/summary")

    assert cost(acme_api, "/api/v1/balance/summary")[0] == 2
