"""GET /api/v1/balance/auto-funding/decisions"""

from __future__ import annotations

from datetime import timedelta

from funding.models import FundingTransaction
from funding.services import auto_funding
from tests.builders import NOW, ApiClient, make_auto_funding, make_key, make_source

PATH = "/api/v1/balance/auto-funding/decisions"


def evaluate(tenant, minutes=0):
    return auto_funding.evaluate(tenant_id=tenant.pk, now=NOW + timedelta(minutes=minutes))


def test_starts_empty(acme_api):
    assert acme_api.get(PATH).json() == {"data": [], "nextCursor": None, "hasMore": False}


def test_shows_each_decision_newest_first(acme, acme_api):
    make_auto_funding(acme)
    declined = evaluate(acme)
    make_source(acme)
    fired = evaluate(acme, minutes=1)

    funding = FundingTransaction.objects.get()
    assert acme_api.get(PATH).json()["data"] == [
        {
            "id": fired.pk,
            "outcome": "fired",
            "reason": "below_threshold",
            "availableBalance": 0,
            "inFlightAmount": 0,
            "lowBalanceThreshold": 10_000,
            "fundingAmount": 50_000,
            "fundingTransactionId": funding.pk,
            "createdAt": "2026-11-20T15:01:00.000000Z",
        },
        {
            "id": declined.pk,
            "outcome": "declined",
            "reason": "no_funding_source",
            "availableBalance": 0,
            "inFlightAmount": 0,
            "lowBalanceThreshold": 10_000,
            "fundingAmount": 50_000,
            "fundingTransactionId": None,
            "createdAt": "2026-11-20T15:00:00.000000Z",
        },
    ]


def test_is_paged(acme, acme_api):
    make_auto_funding(acme)
    declined = evaluate(acme)
    make_source(acme)
    fired = evaluate(acme, minutes=1)

    first = acme_api.get(f"{PATH}?limit=1").json()
    second = acme_api.get(f"{PATH}?limit=1&cursor={first['nextCursor']}").json()

    assert [row["id"] for row in first["data"] + second["data"]] == [fired.pk, declined.pk]
    assert (first["hasMore"], second["hasMore"]) == (True, False)


def test_hides_other_tenants_decisions(acme, rival_api):
    make_auto_funding(acme)
    evaluate(acme)

    assert rival_api.get(PATH).json()["data"] == []


def test_refuses_unknown_parameters(acme_api):
    response = acme_api.get(f"{PATH}?outcome=fired")

    assert (response.status_code, response.json()["code"]) == (400, "unknown_parameter")


def test_needs_its_scope(acme):
    assert ApiClient(make_key(acme, scopes=["funding:read"])).get(PATH).status_code == 403
    assert ApiClient(make_key(acme, scopes=["autofunding:read"])).get(PATH).status_code == 200


def test_cannot_be_written(acme_api):
    assert acme_api.post_json(PATH, {}).status_code == 405
