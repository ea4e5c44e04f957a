"""GET and POST /api/v1/balance/auto-funding/config"""

from __future__ import annotations

from typing import Any

import pytest

from balance import services as ledger
from common.clock import utc_now
from funding.models import AutoFundingConfig, FundingTransaction, Trigger
from funding.services import pauses, sources
from funding.states import FundingStatus
from tenants.models import AuditEvent
from tests.balance.builders import fund
from tests.builders import (
    ApiClient,
    make_auto_funding,
    make_funding,
    make_key,
    make_source,
)

PATH = "/api/v1/balance/auto-funding/config"
COMPLETE = {
    "enabled": True,
    "lowBalanceThreshold": 10_000,
    "fundingAmount": 50_000,
    "fundingMethod": "ach_debit",
    "confirmationThreshold": 100_000,
}
NEVER_SAVED: dict[str, Any] = {
    "enabled": False,
    "lowBalanceThreshold": None,
    "fundingAmount": None,
    "fundingMethod": None,
    "confirmationThreshold": None,
    "fundingSourceId": None,
    "monthlyLimit": None,
    "confirmationEmails": [],
    "confirmTopups": False,
    "status": "disabled",
    "pausedReason": None,
    "pausedUntil": None,
    "lastDeclineReason": None,
    "lastTriggeredAt": None,
    "inFlightAmount": 0,
    "fundedThisMonth": 0,
    "updatedAt": None,
}


@pytest.fixture
def source(acme):
    return make_source(acme)


def settings_of(api):
    return api.get(PATH).json()["data"]


class TestGet:
    def test_never_saved(self, acme_api):
        response = acme_api.get(PATH)

        assert response.status_code == 200
        assert response.json() == {"data": NEVER_SAVED}
        assert not AutoFundingConfig.objects.exists()

    def test_saved(self, acme, acme_api, source):
        fund(acme, 1_000_000)
        ledger.change_pending(tenant_id=acme.pk, delta=700)
        make_funding(
            acme,
            source,
            status=FundingStatus.COMPLETED,
            trigger=Trigger.AUTO_FUNDING,
            amount=500,
            created_at=utc_now(),
        )
        config = make_auto_funding(
            acme,
            confirmation_threshold=0,
            source=source,
            monthly_limit=9_000,
            confirmation_emails=["cfo@acme.example"],
            confirm_topups=True,
        )

        assert settings_of(acme_api) == {
            "enabled": True,
            "lowBalanceThreshold": 10_000,
            "fundingAmount": 50_000,
            "fundingMethod": "ach_debit",
            "confirmationThreshold": 0,
            "fundingSourceId": source.pk,
            "monthlyLimit": 9_000,
            "confirmationEmails": ["cfo@acme.example"],
            "confirmTopups": True,
            "status": "active",
            "pausedReason": None,
            "pausedUntil": None,
            "lastDeclineReason": "auto_funding_monthly_limit",
            "lastTriggeredAt": None,
            "inFlightAmount": 700,
            "fundedThisMonth": 500,
            "updatedAt": config.updated_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }

    def test_shows_a_pause(self, acme, acme_api):
        make_auto_funding(acme)
        pauses.pause(tenant_id=acme.pk, reason="bank_returned_R10", now=utc_now())

        shown = settings_of(acme_api)

        assert (shown["status"], shown["pausedReason"], shown["pausedUntil"]) == (
            "paused",
            "bank_returned_R10",
            None,
        )

    def test_a_pause_whose_time_is_up_is_none(self, acme, acme_api):
        make_auto_funding(acme, paused_reason="waiting_after_failure", paused_until=utc_now())

        shown = settings_of(acme_api)

        assert (shown["status"], shown["pausedReason"]) == ("active", None)

    def test_hides_other_tenants_settings(self, acme, rival_api):
        make_auto_funding(acme)

        assert settings_of(rival_api) == NEVER_SAVED


class TestPost:
    def test_saves_and_shows_what_get_shows(self, acme, acme_api, source):
        fund(acme, 1_000_000)

        response = acme_api.post_json(PATH, COMPLETE)

        assert response.status_code == 200
        saved = response.json()["data"]
        assert {name: saved[name] for name in COMPLETE} == COMPLETE
        assert saved["status"] == "active"
        assert saved == settings_of(acme_api)
        assert AuditEvent.objects.get(action="auto_funding.configured").actor_type == "api_key"

    def test_fields_left_out_keep_their_value(self, acme, acme_api, source):
        fund(acme, 1_000_000)
        acme_api.post_json(PATH, COMPLETE | {"monthlyLimit": 500_000})

        changed = acme_api.post_json(PATH, {"fundingAmount": 60_000}).json()["data"]

        assert (changed["confirmationThreshold"], changed["monthlyLimit"]) == (100_000, 500_000)
        assert (changed["enabled"], changed["fundingAmount"]) == (True, 60_000)

    @pytest.mark.parametrize("field", ["confirmationThreshold", "monthlyLimit", "fundingSourceId"])
    def test_null_clears_what_may_be_cleared(self, acme, acme_api, source, field):
        fund(acme, 1_000_000)
        full = COMPLETE | {"monthlyLimit": 500_000, "fundingSourceId": source.pk}
        acme_api.post_json(PATH, full)

        assert acme_api.post_json(PATH, {field: None}).json()["data"][field] is None

    @pytest.mark.parametrize(
        "field",
        [
            "enabled",
            "lowBalanceThreshold",
            "fundingAmount",
            "fundingMethod",
            "confirmationEmails",
            "confirmTopups",
        ],
    )
    def test_null_clears_nothing_else(self, acme_api, field):
        response = acme_api.post_json(PATH, {field: None})

        assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
        assert response.json()["errors"][0]["field"] == field

    def test_a_threshold_of_zero_is_not_null(self, acme, acme_api, source):
        fund(acme, 1_000_000)

        saved = acme_api.post_json(PATH, COMPLETE | {"confirmationThreshold": 0}).json()["data"]

        assert saved["confirmationThreshold"] == 0

    def test_addresses_are_kept_in_lower_case(self, acme_api):
        sent = {"confirmationEmails": ["CFO@Acme.Example"]}

        saved = acme_api.post_json(PATH, sent).json()["data"]

        assert saved["confirmationEmails"] == ["cfo@acme.example"]

    def test_enabling_while_low_fires_at_once(self, acme_api, source):
        saved = acme_api.post_json(PATH, COMPLETE).json()["data"]

        assert saved["inFlightAmount"] == saved["fundedThisMonth"] == 50_000
        assert saved["lastTriggeredAt"] is not None
        assert FundingTransaction.objects.get().status == "reserved"

    def test_enabled_true_ends_a_pause(self, acme, acme_api, source):
        fund(acme, 1_000_000)
        acme_api.post_json(PATH, COMPLETE)
        pauses.pause(tenant_id=acme.pk, reason="too_many_firings", now=utc_now())

        assert acme_api.post_json(PATH, {"enabled": True}).json()["data"]["status"] == "active"

    def test_enabled_true_does_not_speak_for_the_account_holder(self, acme, acme_api, source):
        fund(acme, 1_000_000)
        acme_api.post_json(PATH, COMPLETE)
        sources.note_return(source=source, return_code="R10", now=utc_now())
        pauses.pause(tenant_id=acme.pk, reason="bank_returned_R10", now=utc_now())

        response = acme_api.post_json(PATH, {"enabled": True})

        assert (response.status_code, response.json()["code"]) == (
            422,
            "funding_source_not_authorized",
        )
        assert [error["field"] for error in response.json()["errors"]] == ["fundingSourceId"]
        assert settings_of(acme_api)["status"] == "paused"

    def test_the_same_idempotency_key_answers_the_same(self, acme_api, source):
        first, second = (
            acme_api.post_json(PATH, COMPLETE, **{"Idempotency-Key": "k"}) for _ in range(2)
        )

        assert second.content == first.content
        assert second["Idempotent-Replayed"] == "true"
        assert FundingTransaction.objects.count() == 1


class TestRefusals:
    def refused(self, response, status, code):
        assert (response.status_code, response.json()["code"]) == (status, code)
        assert not AutoFundingConfig.objects.exists()
        return response.json()["errors"]

    @pytest.mark.parametrize(
        "changes",
        [
            {"enabled": 1},
            {"enabled": "true"},
            {"enabled": []},
            {"lowBalanceThreshold": -1},
            {"lowBalanceThreshold": 10_000.0},
            {"lowBalanceThreshold": "10000"},
            {"lowBalanceThreshold": True},
            {"lowBalanceThreshold": 10**15 + 1},
            {"fundingAmount": 0},
            {"fundingAmount": -5},
            {"fundingAmount": 2**63},
            {"fundingMethod": "wire"},
            {"fundingMethod": "ACH_DEBIT"},
            {"fundingMethod": ["ach_debit"]},
            {"fundingMethod": ""},
            {"confirmationThreshold": ""},
            {"confirmationThreshold": False},
            {"confirmationThreshold": -1},
            {"confirmationThreshold": {}},
            {"monthlyLimit": 0},
            {"monthlyLimit": "none"},
            {"confirmationEmails": "cfo@acme.example"},
            {"confirmationEmails": {"0": "cfo@acme.example"}},
            {"confirmationEmails": ["not an address"]},
            {"confirmationEmails": ["a@b.example\nBcc: x@y.example"]},
            {"confirmationEmails": [None]},
            {"confirmationEmails": [7]},
            {"confirmationEmails": [["cfo@acme.example"]]},
            {"confirmationEmails": ["a" * 250 + "@b.example"]},
            {"confirmationEmails": ["cfo@acme.example", "CFO@acme.example"]},
            {"confirmationEmails": [f"a{number}@b.example" for number in range(11)]},
            {"confirmTopups": "yes"},
            {"fundingSourceId": 5},
            {"fundingSourceId": ""},
            {"fundingSourceId": "x" * 65},
        ],
    )
    def test_a_malformed_value_is_400_and_names_the_field(self, acme_api, source, changes):
        errors = self.refused(acme_api.post_json(PATH, COMPLETE | changes), 400, "invalid_request")

        (field,) = changes
        assert errors[0]["field"].startswith(field)

    @pytest.mark.parametrize(
        "field",
        [
            "status",
            "pausedReason",
            "pausedUntil",
            "lastDeclineReason",
            "lastTriggeredAt",
            "inFlightAmount",
            "fundedThisMonth",
            "updatedAt",
            "tenantId",
            "approverEmail",
            "approver_email",
            "funding_amount",
            "ENABLED",
        ],
    )
    def test_a_read_only_or_unknown_field_is_400(self, acme_api, source, field):
        errors = self.refused(
            acme_api.post_json(PATH, COMPLETE | {field: "x"}), 400, "unknown_field"
        )

        assert [error["field"] for error in errors] == [field]

    @pytest.mark.parametrize("missing", ["lowBalanceThreshold", "fundingAmount", "fundingMethod"])
    def test_enabling_incomplete_settings_is_422(self, acme_api, source, missing):
        body = {name: value for name, value in COMPLETE.items() if name != missing}

        errors = self.refused(acme_api.post_json(PATH, body), 422, "auto_funding_incomplete")

        assert [error["field"] for error in errors] == [missing]

    def test_enabling_without_a_bank_account_is_422(self, acme_api):
        errors = self.refused(acme_api.post_json(PATH, COMPLETE), 422, "auto_funding_incomplete")

        assert [error["field"] for error in errors] == ["fundingSourceId"]
        assert not FundingTransaction.objects.exists()

    def test_an_amount_over_the_networks_limit_is_422(self, acme_api, source):
        errors = self.refused(
            acme_api.post_json(PATH, COMPLETE | {"fundingAmount": 100_000_001}),
            422,
            "amount_above_limit",
        )

        assert [error["field"] for error in errors] == ["fundingAmount"]

    @pytest.mark.parametrize("source_id", ["fs_01kaj9s3h5x2q4z6w8y0v2t4r6", "abc", "%00", "'; --"])
    def test_an_unknown_source_is_404(self, acme_api, source, source_id):
        self.refused(
            acme_api.post_json(PATH, COMPLETE | {"fundingSourceId": source_id}), 404, "not_found"
        )

    def test_another_tenants_source_is_404(self, rival, acme_api, source):
        foreign = make_source(rival)

        self.refused(
            acme_api.post_json(PATH, COMPLETE | {"fundingSourceId": foreign.pk}), 404, "not_found"
        )

    def test_other_methods_are_405(self, acme_api):
        response = acme_api.patch_json(PATH, {})

        assert (response.status_code, response["Allow"]) == (405, "GET, POST, HEAD")

    @pytest.mark.parametrize(
        ("scope", "method", "status"),
        [
            ("autofunding:read", "get", 200),
            ("autofunding:read", "post_json", 403),
            ("autofunding:write", "get", 403),
            ("funding:write", "post_json", 403),
        ],
    )
    def test_needs_its_scope(self, acme, scope, method, status):
        api = ApiClient(make_key(acme, scopes=[scope]))

        assert getattr(api, method)(PATH).status_code == status

    def test_needs_a_key(self, db):
        assert ApiClient().post_json(PATH, COMPLETE).status_code == 401
