"""List, detail, removal and default of bank accounts."""

from __future__ import annotations

import pytest

from funding.models import FundingSource
from funding.services import sources
from tenants.actors import SYSTEM
from tests.builders import (
    NOW,
    ApiClient,
    make_funding,
    make_key,
    make_linked_source,
    make_source,
)

PATH = "/api/v1/balance/funding-sources"
UNKNOWN = "fs_01kaj9s3h5x2q4z6w8y0v2t4r6"
JUNK_IDS = ["abc", "a%00b", "9" * 40, "%2a", "fs_", "fs_%ff", "'; drop table", UNKNOWN]


def ids(response):
    return [row["id"] for row in response.json()["data"]]


def remove(source):
    sources.remove(tenant_id=source.tenant_id, source_id=source.pk, actor=SYSTEM, now=NOW)


class TestList:
    def test_shows_the_newest_first(self, acme, acme_api):
        first = make_source(acme)
        second = make_source(acme, account_number="222222", now=NOW.replace(hour=16))

        response = acme_api.get(PATH)

        assert ids(response) == [second.pk, first.pk]
        assert (response.json()["hasMore"], response.json()["nextCursor"]) == (False, None)

    def test_hides_removed_accounts_unless_asked(self, acme, acme_api):
        removed = make_source(acme)
        remove(removed)
        kept = make_source(acme, now=NOW.replace(hour=16))

        assert ids(acme_api.get(PATH)) == [kept.pk]
        assert ids(acme_api.get(f"{PATH}?includeRemoved=false")) == [kept.pk]
        assert ids(acme_api.get(f"{PATH}?includeRemoved=true")) == [kept.pk, removed.pk]

    def test_is_paged(self, acme, acme_api):
        made = {make_source(acme, account_number=f"22222{number}").pk for number in range(3)}

        first = acme_api.get(f"{PATH}?limit=2")
        cursor = first.json()["nextCursor"]
        second = acme_api.get(f"{PATH}?limit=2&cursor={cursor}")

        assert len(ids(first)) == 2
        assert set(ids(first) + ids(second)) == made
        assert second.json()["hasMore"] is False

    def test_hides_other_tenants_accounts(self, rival, acme_api):
        make_source(rival)

        assert ids(acme_api.get(PATH)) == []

    @pytest.mark.parametrize(
        "query",
        ["includeRemoved=1", "includeRemoved=True", "includeRemoved=", "limit=0", "status=active"],
    )
    def test_refuses_odd_parameters(self, acme_api, query):
        response = acme_api.get(f"{PATH}?{query}")

        assert response.status_code == 400
        assert response.json()["errors"][0]["field"] == query.partition("=")[0]


class TestRetrieve:
    def test_shows_everything_but_the_number(self, acme, acme_api):
        source = make_source(acme, account_number="000777000123")

        response = acme_api.get(f"{PATH}/{source.pk}")

        assert response.json() == {
            "data": {
                "id": source.pk,
                "type": "manual",
                "status": "active",
                "verificationMethod": "sandbox",
                "bankName": "JPMorgan Chase",
                "last4": "0123",
                "routingNumber": "021000021",
                "accountHolderName": "Acme Inc",
                "accountHolderType": "business",
                "accountType": "checking",
                "supportedMethods": ["ach_debit", "rtp"],
                "isDefault": True,
                "lastReturnCode": None,
                "createdAt": "2026-11-20T15:00:00.000000Z",
                "removedAt": None,
            }
        }

    def test_shows_a_removed_account(self, acme, acme_api):
        source = make_source(acme)
        remove(source)

        shown = acme_api.get(f"{PATH}/{source.pk}").json()["data"]

        assert (shown["status"], shown["isDefault"]) == ("removed", False)
        assert shown["removedAt"] == "2026-11-20T15:00:00.000000Z"

    @pytest.mark.parametrize("source_id", JUNK_IDS)
    def test_answers_404_to_any_other_id(self, acme_api, source_id):
        response = acme_api.get(f"{PATH}/{source_id}")

        assert (response.status_code, response.json()["code"]) == (404, "not_found")

    def test_hides_other_tenants_accounts(self, rival, acme_api):
        source = make_source(rival)

        theirs, nobodys = (
            acme_api.get(f"{PATH}/{source_id}").json() | {"requestId": ""}
            for source_id in (source.pk, UNKNOWN)
        )

        assert theirs["status"] == 404
        assert theirs == nobodys


class TestRemove:
    def test_answers_what_is_left_and_may_be_repeated(self, acme, acme_api):
        source = make_source(acme)

        first = acme_api.delete(f"{PATH}/{source.pk}")
        again = acme_api.delete(f"{PATH}/{source.pk}")

        removed_at = first.json()["data"]["removedAt"]
        assert first.json() == {
            "data": {"id": source.pk, "status": "removed", "removedAt": removed_at}
        }
        assert (first.status_code, again.status_code) == (200, 200)
        assert again.content == first.content

    def test_waits_for_funding_on_its_way(self, acme, acme_api):
        source = make_source(acme)
        make_funding(acme, source)

        response = acme_api.delete(f"{PATH}/{source.pk}")

        assert (response.status_code, response.json()["code"]) == (409, "funding_source_in_use")
        assert FundingSource.objects.get(pk=source.pk).status == "active"

    @pytest.mark.parametrize("source_id", JUNK_IDS)
    def test_answers_404_to_any_other_id(self, acme_api, source_id):
        response = acme_api.delete(f"{PATH}/{source_id}")

        assert (response.status_code, response.json()["code"]) == (404, "not_found")

    def test_hides_other_tenants_accounts(self, rival, acme_api):
        source = make_source(rival)

        assert acme_api.delete(f"{PATH}/{source.pk}").status_code == 404
        assert FundingSource.objects.get(pk=source.pk).status == "active"

    def test_knows_no_longer_paths(self, acme, acme_api):
        source = make_source(acme)

        assert acme_api.delete(f"{PATH}/{source.pk}/extra").status_code == 404


class TestMakeDefault:
    def test_moves_the_default(self, acme, acme_api):
        first = make_source(acme)
        second = make_linked_source(acme)

        response = acme_api.post_json(f"{PATH}/{second.pk}/default")

        assert (response.status_code, response.json()["data"]["isDefault"]) == (200, True)
        assert not FundingSource.objects.get(pk=first.pk).is_default

    def test_refuses_an_unproven_account(self, acme, acme_api):
        source = make_source(acme, account_number="50001")

        response = acme_api.post_json(f"{PATH}/{source.pk}/default")

        assert response.status_code == 422
        assert response.json()["code"] == "funding_source_not_verified"

    @pytest.mark.parametrize("source_id", JUNK_IDS)
    def test_answers_404_to_any_other_id(self, acme_api, source_id):
        assert acme_api.post_json(f"{PATH}/{source_id}/default").status_code == 404

    def test_hides_other_tenants_accounts(self, rival, acme_api):
        source = make_source(rival)
        make_source(rival, account_number="222222")

        assert acme_api.post_json(f"{PATH}/{source.pk}/default").status_code == 404


class TestScopes:
    def test_reading_is_not_writing(self, acme):
        source = make_source(acme)
        reader = ApiClient(make_key(acme, scopes=["sources:read"]))
        writer = ApiClient(make_key(acme, scopes=["sources:write"]))

        assert reader.get(PATH).status_code == 200
        assert reader.get(f"{PATH}/{source.pk}").status_code == 200
        for refused in (
            reader.post_json(PATH, {}),
            reader.post_json(f"{PATH}/manual", {}),
            reader.delete(f"{PATH}/{source.pk}"),
            reader.post_json(f"{PATH}/{source.pk}/default"),
            reader.post_json(f"{PATH}/{source.pk}/verify", {"amounts": [1, 2]}),
            writer.get(PATH),
            writer.get(f"{PATH}/{source.pk}"),
        ):
            assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")

    def test_other_methods_are_named(self, acme_api):
        response = acme_api.patch_json(f"{PATH}/{UNKNOWN}", {})

        assert response.status_code == 405
        assert response["Allow"] == "GET, DELETE, HEAD"
