"""Linking a bank account with a provider's token."""

from __future__ import annotations

from typing import Any

import pytest

from common import crypto
from funding.models import FundingSource, LinkConsent
from tenants.models import AuditEvent, Mode
from tests.builders import ApiClient, make_key, make_source, make_tenant
from tests.plaid import ACCOUNT_ID, NUMBER, PROCESSOR_TOKEN

PATH = "/api/v1/balance/funding-sources"
BODY = {
    "linkProcessorToken": "processor-sandbox-acme",
    "linkAccountId": "acc_1",
    "accountHolderName": "Acme Inc",
}


class TestLink:
    def test_makes_an_active_default_source(self, acme_api):
        response = acme_api.post_json(PATH, BODY)

        made = response.json()["data"]
        source = FundingSource.objects.get()
        assert (response.status_code, response["Location"]) == (201, f"{PATH}/{source.pk}")
        assert (made["type"], made["status"], made["verificationMethod"]) == (
            "linked",
            "active",
            "bank_link",
        )
        assert made["isDefault"] is True
        assert acme_api.get(response["Location"]).json()["data"] == made

    def test_is_audited(self, acme_api):
        source_id = acme_api.post_json(PATH, BODY).json()["data"]["id"]

        event = AuditEvent.objects.get(action="funding_source.added")
        assert (event.subject_id, event.actor_type) == (source_id, "api_key")

    def test_opens_the_test_account_named_by_the_token(self, acme_api):
        response = acme_api.post_json(
            PATH, BODY | {"linkProcessorToken": "processor-sandbox-10001"}
        )

        source = FundingSource.objects.get()
        number = crypto.decrypt(source.account_number_token, context=source.encryption_context)
        assert (response.json()["data"]["last4"], number) == ("0001", "10001")

    @pytest.mark.parametrize(
        ("token", "status", "code"),
        [
            ("processor-sandbox-invalid", 422, "invalid_link_token"),
            ("public-token", 422, "invalid_link_token"),
            ("processor-sandbox-", 422, "invalid_link_token"),
            ("processor-sandbox-x-mismatch", 422, "link_account_mismatch"),
            ("processor-sandbox-x-login-required", 422, "link_needs_repair"),
        ],
    )
    def test_passes_on_why_the_provider_refuses(self, acme_api, token, status, code):
        response = acme_api.post_json(PATH, BODY | {"linkProcessorToken": token})

        assert (response.status_code, response.json()["code"]) == (status, code)
        assert not FundingSource.objects.exists()

    def test_is_unavailable_where_no_provider_is_connected(self, db):
        live = ApiClient(make_key(make_tenant(mode=Mode.LIVE)))

        response = live.post_json(PATH, BODY)

        assert (response.status_code, response["Retry-After"]) == (503, "1")
        assert response.json()["code"] == "link_provider_unavailable"

    def test_asks_the_provider_of_live_tenants(self, db, plaid):
        live = ApiClient(make_key(make_tenant(mode=Mode.LIVE)))
        body = BODY | {"linkProcessorToken": PROCESSOR_TOKEN, "linkAccountId": ACCOUNT_ID}

        response = live.post_json(PATH, body)

        source = FundingSource.objects.get()
        assert (response.status_code, response.json()["data"]["last4"]) == (201, "0000")
        assert source.in_clear().account_number == NUMBER
        assert not LinkConsent.objects.exists()  # the token is the tenant's own

    @pytest.mark.parametrize(
        ("refused", "status", "code"),
        [
            ("INVALID_PROCESSOR_TOKEN", 422, "invalid_link_token"),
            ("NO_AUTH_ACCOUNTS", 422, "invalid_link_token"),
            ("INVALID_ACCOUNT_ID", 422, "link_account_mismatch"),
            ("ITEM_LOGIN_REQUIRED", 422, "link_needs_repair"),
            ("INSTITUTION_DOWN", 503, "link_provider_unavailable"),
        ],
    )
    def test_passes_on_what_that_provider_refuses(self, db, plaid, refused, status, code):
        live = ApiClient(make_key(make_tenant(mode=Mode.LIVE)))
        plaid.refuses("/processor/auth/get", refused)

        response = live.post_json(PATH, BODY | {"linkProcessorToken": PROCESSOR_TOKEN})

        assert (response.status_code, response.json()["code"]) == (status, code)
        assert not FundingSource.objects.exists()

    def test_names_the_source_that_has_the_account_already(self, acme_api):
        first = acme_api.post_json(PATH, BODY).json()["data"]["id"]

        response = acme_api.post_json(PATH, BODY | {"accountHolderName": "Somebody else"})

        assert (response.status_code, response.json()["code"]) == (409, "duplicate_funding_source")
        assert response.json()["existingId"] == first

    def test_lets_two_tenants_link_the_same_account(self, acme_api, rival_api):
        assert acme_api.post_json(PATH, BODY).status_code == 201
        assert rival_api.post_json(PATH, BODY).status_code == 201

    def test_takes_no_more_than_twenty(self, acme, acme_api):
        for number in range(20):
            make_source(acme, account_number=f"22222{number}")

        response = acme_api.post_json(PATH, BODY)

        assert (response.status_code, response.json()["code"]) == (422, "too_many_funding_sources")
        assert FundingSource.objects.count() == 20

    def test_repeats_its_answer_for_the_same_key(self, acme_api):
        first = acme_api.post_json(PATH, BODY, **{"Idempotency-Key": "once"})
        again = acme_api.post_json(PATH, BODY, **{"Idempotency-Key": "once"})

        assert (again.status_code, again.content) == (201, first.content)
        assert again["Idempotent-Replayed"] == "true"
        assert again["Location"] == first["Location"]
        assert FundingSource.objects.count() == 1


class TestBody:
    @pytest.mark.parametrize("field", sorted(BODY))
    def test_takes_only_text_of_sensible_length(self, acme_api, field):
        values: list[Any] = [None, 123, 1.5, True, "", " ", [], {}, ["x"], "x" * 10_000]
        for value in values:
            response = acme_api.post_json(PATH, BODY | {field: value})

            said = response.json()
            assert (response.status_code, said["code"]) == (400, "invalid_request"), value
            assert [error["field"] for error in said["errors"]] == [field], value
        assert not FundingSource.objects.exists()

    @pytest.mark.parametrize("field", sorted(BODY))
    def test_needs_every_field(self, acme_api, field):
        response = acme_api.post_json(PATH, {k: v for k, v in BODY.items() if k != field})

        assert [(e["field"], e["code"]) for e in response.json()["errors"]] == [(field, "required")]

    @pytest.mark.parametrize("field", ["status", "isDefault", "accountNumber", "verified", "id"])
    def test_refuses_fields_it_does_not_know(self, acme_api, field):
        response = acme_api.post_json(PATH, BODY | {field: "active"})

        assert (response.status_code, response.json()["code"]) == (400, "unknown_field")

    @pytest.mark.parametrize("token", ["tok en", "tok\ten", "töken", "token\n", "‮token"])
    def test_takes_only_visible_ascii_in_a_token(self, acme_api, token):
        response = acme_api.post_json(PATH, BODY | {"linkProcessorToken": token})

        assert response.status_code == 400

    def test_never_repeats_the_token(self, acme_api):
        for token in ("secret-token-canary", "secret token canary", "secret-canary" * 100):
            response = acme_api.post_json(PATH, BODY | {"linkProcessorToken": token})

            assert response.status_code in {400, 422}
            assert b"canary" not in response.content

    def test_refuses_markup_in_a_name(self, acme_api):
        response = acme_api.post_json(
            PATH, BODY | {"accountHolderName": "<script>alert(1)</script>"}
        )

        assert (response.status_code, response.json()["code"]) == (400, "invalid_bank_details")
        assert not FundingSource.objects.exists()
