from __future__ import annotations

import csv
from datetime import timedelta

import pytest

from balance import selectors
from balance import services as ledger
from tests.balance.builders import fund, movement
from tests.builders import NOW, ApiClient, make_key

PATH = "/api/v1/balance/transactions.csv"
HEADER = [
    "id",
    "type",
    "amount",
    "currency",
    "availableDelta",
    "lockedDelta",
    "availableBalance",
    "lockedBalance",
    "sourceType",
    "sourceId",
    "description",
    "createdAt",
]


def downloaded(api, query=""):
    response = api.get(f"{PATH}{query}")
    assert response.status_code == 200
    text = b"".join(response.streaming_content).decode()
    return list(csv.reader(text.splitlines()))


def test_holds_every_field_of_every_line(acme, acme_api):
    first = fund(acme, 1_000, source_id="ftx_1", description="Top-up")
    second = ledger.lock(**movement(acme, 300, source_id="pay_1", description="Rent, May"))

    header, *rows = downloaded(acme_api)

    at = "2026-11-20T15:00:00.000000Z"
    lock = ["lock", "300", "USD", "-300", "300", "700", "300", "payment", "pay_1", "Rent, May", at]
    credit = ["credit", "1000", "USD", "1000", "0", "1000", "0", "funding_transaction", "ftx_1"]
    assert header == HEADER
    assert rows == [[second.id, *lock], [first.id, *credit, "Top-up", at]]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "\uff1d1"]
)
def test_text_that_looks_like_a_formula_is_defused(acme, acme_api, text):
    fund(acme, 1, description=text)

    response = acme_api.get(PATH)

    body = b"".join(response.streaming_content).decode()
    cell = next(csv.reader([body.split("\r\n", 1)[1]]))[10]
    assert cell == f"'{text}"


def test_is_a_download_that_nobody_keeps(acme, acme_api):
    response = acme_api.get(PATH)

    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="balance-transactions.csv"'
    assert response["Cache-Control"] == "no-store"
    assert response["RateLimit"]
    assert response["X-Request-Id"]


def test_takes_the_filters_of_the_list(acme, acme_api):
    fund(acme, 10)
    ledger.lock(**movement(acme, 3))
    fund(acme, 20, now=NOW + timedelta(days=1))

    amounts = [
        row[2] for row in downloaded(acme_api, "?type=credit&createdAfter=2026-11-21T00:00:00Z")
    ]

    assert amounts == ["amount", "20"]


@pytest.mark.parametrize("query", ["?limit=5", "?cursor=abc", "?type=refund", "?foo=1"])
def test_refuses_other_parameters(acme_api, query):
    response = acme_api.get(f"{PATH}{query}")

    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"


def test_hides_other_tenants_lines(rival, acme_api):
    fund(rival, 5)

    assert downloaded(acme_api) == [HEADER]


def test_needs_the_scope(acme):
    api = ApiClient(make_key(acme, scopes=["funding:read"]))

    assert api.get(PATH).status_code == 403


def test_is_read_in_short_queries_that_leave_out_what_comes_meanwhile(
    acme, django_assert_num_queries
):
    for amount in range(1, 8):
        fund(acme, amount)
    lines = selectors.newest_first(selectors.transactions(acme.pk), chunk=3)

    with django_assert_num_queries(5):  # four chunks, and the posting
        newest = next(lines)["amount"]
        fund(acme, 8)
        rest = [line["amount"] for line in lines]

    assert [newest, *rest] == [7, 6, 5, 4, 3, 2, 1]
