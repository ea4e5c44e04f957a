"""/api/v1/recipients"""

from __future__ import annotations

from datetime import timedelta

import pytest

from payments.models import Recipient
from payments.services import recipients
from tenants.actors import SYSTEM
from tests.builders import NOW, ApiClient, make_key
from tests.payments.builders import account

PATH = "/api/v1/recipients"
BODY = {
    "accountNumber": "000123456789",
    "routingNumber": "021000021",
    "accountHolderName": "Supplier LLC",
    "accountHolderType": "business",
    "accountType": "savings",
}


def save(tenant, number="000123456789", now=NOW):
    return recipients.save(tenant_id=tenant.pk, details=account(number), actor=SYSTEM, now=now)


def ids(response):
    return [row["id"] for row in response.json()["data"]]


class TestSave:
    def test_answers_201_without_the_number(self, acme_api):
        response = acme_api.post_json(PATH, BODY)

        assert response.status_code == 201
        recipient = response.json()["data"]
        assert response["Location"] == f"{PATH}/{recipient['id']}"
        assert acme_api.get(response["Location"]).json()["data"] == recipient
        assert {
            "bankName": "JPMorgan Chase",
            "last4": "6789",
            "routingNumber": "021000021",
            "accountHolderName": "Supplier LLC",
            "accountHolderType": "business",
            "accountType": "savings",
            "removedAt": None,
        }.items() <= recipient.items()
        assert b"000123456789" not in response.content

    def test_keeps_what_the_tenant_calls_it(self, acme_api):
        response = acme_api.post_json(PATH, {**BODY, "nickname": "Boxes and tape"})

        assert response.json()["data"]["nickname"] == "Boxes and tape"
        assert Recipient.objects.get().nickname == "Boxes and tape"

    @pytest.mark.parametrize("nickname", ["", None, 7, "x" * 61, "two\nlines"])
    def test_refuses_what_is_no_nickname(self, acme_api, nickname):
        response = acme_api.post_json(PATH, {**BODY, "nickname": nickname})

        assert response.status_code == 400
        assert response.json()["errors"][0]["field"] == "nickname"
        assert not Recipient.objects.exists()

    def test_the_same_account_again_names_the_first(self, acme, acme_api):
        first = save(acme)

        response = acme_api.post_json(PATH, BODY)

        assert (response.status_code, response.json()["code"]) == (409, "duplicate_recipient")
        assert response.json()["existingId"] == first.pk

    @pytest.mark.parametrize("field", sorted(BODY))
    def test_every_field_is_needed(self, acme_api, field):
        response = acme_api.post_json(PATH, {k: v for k, v in BODY.items() if k != field})

        assert response.status_code == 400
        assert response.json()["errors"][0]["field"] == field
        assert not Recipient.objects.exists()

    def test_a_key_that_may_only_read(self, acme):
        api = ApiClient(make_key(acme, scopes=["payments:read"]))

        assert api.post_json(PATH, BODY).status_code == 403
        assert api.get(PATH).status_code == 200


class TestList:
    def test_newest_first_and_removed_ones_on_request(self, acme, acme_api):
        old = save(acme, "11112222")
        new = save(acme, "33334444", now=NOW + timedelta(hours=1))
        acme_api.delete(f"{PATH}/{old.pk}")

        assert ids(acme_api.get(PATH)) == [new.pk]
        assert ids(acme_api.get(PATH, {"includeRemoved": "true"})) == [new.pk, old.pk]
        assert ids(acme_api.get(PATH, {"includeRemoved": "false"})) == [new.pk]

    def test_hides_other_tenants(self, acme_api, rival):
        save(rival)

        assert ids(acme_api.get(PATH)) == []

    def test_refuses_what_it_does_not_understand(self, acme_api):
        assert acme_api.get(PATH, {"includeRemoved": "yes"}).status_code == 400
        assert acme_api.get(PATH, {"name": "x"}).status_code == 400


class TestDetail:
    @pytest.mark.parametrize("name", ["abc", "rcp_1", "rcp_00000000000000000000000000", "a%00b"])
    def test_unknown_ids_are_404(self, acme_api, name):
        assert acme_api.get(f"{PATH}/{name}").status_code == 404
        assert acme_api.delete(f"{PATH}/{name}").status_code == 404

    def test_hides_other_tenants(self, acme_api, rival):
        recipient = save(rival)

        assert acme_api.get(f"{PATH}/{recipient.pk}").status_code == 404
        assert acme_api.delete(f"{PATH}/{recipient.pk}").status_code == 404


class TestRemove:
    def test_says_when_and_can_be_repeated(self, acme, acme_api):
        recipient = save(acme)

        first, second = (acme_api.delete(f"{PATH}/{recipient.pk}") for _ in range(2))

        assert first.status_code == second.status_code == 200
        assert first.json() == second.json()
        assert first.json()["data"]["id"] == recipient.pk
        shown = acme_api.get(f"{PATH}/{recipient.pk}").json()["data"]
        assert shown["removedAt"] == first.json()["data"]["removedAt"]
