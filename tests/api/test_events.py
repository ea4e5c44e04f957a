"""`GET /events`: what happened, whoever was told."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from common import ids
from tests.builders import NOW, ApiClient, make_key, publish, publish_notice
from webhooks.models import WebhookEvent

PATH = "/api/v1/events"


def listed(api, query=""):
    response = api.get(PATH + query)
    assert response.status_code == 200, response.json()
    return [row["id"] for row in response.json()["data"]]


class TestList:
    def test_shows_payloads_as_receivers_get_them(self, acme, acme_api):
        publish(acme)

        (row,) = acme_api.get(PATH).json()["data"]

        assert row == json.loads(bytes(WebhookEvent.objects.get().body))

    def test_narrows_by_type_payment_and_time(self, acme, acme_api):
        payment = ids.new("ftx")
        first = publish(acme, payment_id=payment, type="payment.created")
        second = publish(acme, payment_id=payment, sequence=2, now=NOW + timedelta(hours=1))
        notice = publish_notice(acme, now=NOW + timedelta(hours=2))

        assert listed(acme_api) == [notice, second, first]
        assert listed(acme_api, f"?paymentId={payment}") == [second, first]
        assert listed(acme_api, "?type=balance.low&type=payment.created") == [notice, first]
        assert listed(acme_api, "?createdAfter=2026-11-20T15:30:00Z") == [notice, second]
        assert listed(acme_api, "?createdBefore=2026-11-20T15:30:00Z") == [first]

    def test_is_paged_without_gaps(self, acme, acme_api):
        made = {publish(acme) for _ in range(5)}  # all at the same microsecond

        seen, cursor = [], ""
        while cursor is not None:
            page = acme_api.get(f"{PATH}?limit=2{cursor and f'&cursor={cursor}'}").json()
            seen += [row["id"] for row in page["data"]]
            cursor = page["nextCursor"]

        assert (len(seen), set(seen)) == (5, made)

    @pytest.mark.parametrize(
        "query", ["type=x", "type=", "paymentId=%00", "paymentId=", "createdAfter=1", "x=1"]
    )
    def test_refuses_odd_parameters(self, acme_api, query):
        assert acme_api.get(f"{PATH}?{query}").status_code == 400

    def test_hides_other_tenants_events(self, rival, acme_api):
        publish(rival)

        assert listed(acme_api) == []

    def test_needs_the_scope(self, acme):
        api = ApiClient(make_key(acme, scopes=["balance:read"]))

        assert api.get(PATH).status_code == 403


class TestRetrieve:
    def test_shows_one(self, acme, acme_api):
        event_id = publish(acme, amount=1)

        data = acme_api.get(f"{PATH}/{event_id}").json()["data"]

        assert (data["id"], data["data"]["amount"]) == (event_id, 1)

    @pytest.mark.parametrize("junk", ["x", "a%00b", "evt_01kaj9s3h5x2q4z6w8y0v2t4r6"])
    def test_knows_no_other_ids(self, acme_api, junk):
        assert acme_api.get(f"{PATH}/{junk}").status_code == 404

    def test_hides_other_tenants_events(self, rival, acme_api):
        assert acme_api.get(f"{PATH}/{publish(rival)}").status_code == 404
