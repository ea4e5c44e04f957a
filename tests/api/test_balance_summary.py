from __future__ import annotations

from balance import services as ledger
from tests.balance.builders import fund, movement
from tests.builders import ApiClient, make_key

PATH = "/api/v1/balance/summary"


def test_shows_exactly_four_fields(acme, acme_api):
    ledger.change_pending(tenant_id=acme.pk, delta=40)
    fund(acme, 1_000)
    ledger.lock(**movement(acme, 300))

    response = acme_api.get(PATH)

    assert response.status_code == 200
    assert response.json() == {
        "data": {
            "availableBalance": 700,
            "pendingBalance": 40,
            "lockedBalance": 300,
            "currency": "USD",
        }
    }


def test_is_zero_before_the_first_movement(acme_api):
    data = acme_api.get(PATH).json()["data"]

    assert data == {
        "availableBalance": 0,
        "pendingBalance": 0,
        "lockedBalance": 0,
        "currency": "USD",
    }


def test_shows_a_negative_balance(acme, acme_api):
    ledger.debit(**movement(acme, 5))

    assert acme_api.get(PATH).json()["data"]["availableBalance"] == -5


def test_hides_other_tenants_money(rival, acme_api):
    fund(rival, 999)

    assert acme_api.get(PATH).json()["data"]["availableBalance"] == 0


def test_needs_a_key(db):
    assert ApiClient().get(PATH).status_code == 401


def test_needs_the_scope(acme):
    api = ApiClient(make_key(acme, scopes=["funding:read"]))

    response = api.get(PATH)

    assert response.status_code == 403
    assert response.json()["requiredScope"] == "balance:read"


def test_is_only_read(acme_api):
    response = acme_api.post_json(PATH, {})

    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD"
