"""Entering a bank account by its numbers, and never seeing the number again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.apps import apps

from common import crypto
from funding.models import FundingSource, SourceVerification
from networks.base import AccountType, BankAccount, HolderType
from tenants.models import AuditEvent, Mode
from tests.builders import ApiClient, make_key, make_tenant
from tests.database import owner
from tests.funding.live_network import connected

PATH = "/api/v1/balance/funding-sources/manual"
CANARY = "77315509988"
BODY = {
    "accountNumber": CANARY,
    "routingNumber": "021000021",
    "accountHolderName": "Acme Inc",
    "accountHolderType": "business",
    "accountType": "checking",
}


def everything_stored() -> str:
    """All rows of all tables as text, those that requests may not read among them."""
    with owner.as_owner():
        rows = [row for model in apps.get_models() for row in model._default_manager.values_list()]
    return "\n".join(_text(value) for row in rows for value in row)


def _text(value: object) -> str:
    return bytes(value).decode("latin-1") if isinstance(value, memoryview | bytes) else str(value)


class TestEnter:
    def test_is_active_at_once_in_the_sandbox(self, acme_api):
        response = acme_api.post_json(PATH, BODY)

        made = response.json()["data"]
        assert (response.status_code, made["status"]) == (201, "active")
        assert response["Location"] == f"/api/v1/balance/funding-sources/{made['id']}"
        assert (made["type"], made["verificationMethod"], made["isDefault"]) == (
            "manual",
            "sandbox",
            True,
        )
        assert (made["last4"], made["bankName"]) == ("9988", "JPMorgan Chase")

    def test_names_no_bank_it_does_not_know(self, acme_api):
        response = acme_api.post_json(PATH, BODY | {"routingNumber": "322281617"})

        assert response.json()["data"]["bankName"] is None

    def test_drops_spaces(self, acme_api):
        acme_api.post_json(PATH, BODY | {"accountNumber": " 7731 5509 988 "})

        source = FundingSource.objects.get()
        number = crypto.decrypt(source.account_number_token, context=source.encryption_context)
        assert number == CANARY

    @pytest.mark.parametrize("number", ["50000", "50001"])
    def test_waits_for_deposits_to_the_verification_test_numbers(self, acme_api, number):
        made = acme_api.post_json(PATH, BODY | {"accountNumber": number}).json()["data"]

        assert (made["status"], made["verificationMethod"]) == (
            "pending_verification",
            "micro_deposits",
        )
        assert made["isDefault"] is False

    def test_is_refused_to_a_live_tenant_while_no_network_is_connected(self, db):
        live = ApiClient(make_key(make_tenant(mode=Mode.LIVE)))

        response = live.post_json(PATH, BODY)

        refusal = response.json()
        assert (response.status_code, refusal["code"]) == (422, "network_not_connected")
        assert refusal["title"] == "No payment network connected"
        assert "It was not added." in refusal["detail"]
        assert not FundingSource.objects.exists()
        assert not SourceVerification.objects.exists()
        assert AuditEvent.objects.filter(action__startswith="funding_source").count() == 0

    def test_is_verified_by_deposits_in_live_mode_once_one_is(self, db):
        live = ApiClient(make_key(make_tenant(mode=Mode.LIVE)))

        with connected():
            made = live.post_json(PATH, BODY).json()["data"]

        assert made["status"] == "pending_verification"
        assert made["supportedMethods"] == ["ach_debit", "rtp"]
        assert SourceVerification.objects.get().amounts == [7, 31]

    def test_wrong_details_are_named_first(self, db):
        live = ApiClient(make_key(make_tenant(mode=Mode.LIVE)))

        response = live.post_json(PATH, BODY | {"routingNumber": "021000022"})

        assert (response.status_code, response.json()["code"]) == (400, "invalid_bank_details")

    def test_names_the_source_that_has_the_account_already(self, acme_api):
        first = acme_api.post_json(PATH, BODY).json()["data"]["id"]

        response = acme_api.post_json(PATH, BODY | {"accountNumber": "773 155 09988"})

        assert (response.status_code, response.json()["existingId"]) == (409, first)
        assert FundingSource.objects.count() == 1

    def test_refuses_the_number_of_a_payment_card(self, acme_api):
        response = acme_api.post_json(PATH, BODY | {"accountNumber": "4111 1111 1111 1111"})

        assert (response.status_code, response.json()["code"]) == (400, "invalid_bank_details")
        assert "payment card" in response.json()["detail"]
        assert not FundingSource.objects.exists()


class TestBody:
    @pytest.mark.parametrize("field", sorted(BODY))
    def test_takes_only_text_of_sensible_length(self, acme_api, field):
        values: list[Any] = [None, 123456789, 1.5, True, "", [], {}, ["x"], "x" * 10_000]
        for value in values:
            response = acme_api.post_json(PATH, BODY | {field: value})

            assert response.status_code == 400, value
            assert [error["field"] for error in response.json()["errors"]] == [field], value
        assert not FundingSource.objects.exists()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("routingNumber", "990000000"),
            ("routingNumber", " 021000021 "),
            ("routingNumber", "٠٢١٠٠٠٠٢١"),
            ("accountNumber", "1"),
            ("accountNumber", "=1+1"),
            ("accountNumber", "0000"),
            ("accountNumber", "    "),
            ("accountHolderName", "Ac\u0000me"),
            ("accountHolderName", "Acme\u202egnp.exe"),
            ("accountHolderName", "Ac\u200bme"),
            ("accountHolderName", "x\n2026-01-01 INFO paid"),
            ("accountHolderName", "😀"),
            ("accountHolderName", "   "),
            ("accountHolderName", '=HYPERLINK("http://evil","x")'),
            ("accountHolderName", "{{7*7}}{% debug %}"),
            ("accountHolderName", "<b>Acme</b>"),
            ("accountHolderType", "Business"),
            ("accountHolderType", "company"),
            ("accountType", "crypto"),
            ("accountType", "Checking"),
        ],
    )
    def test_refuses_what_no_bank_would_take(self, acme_api, field, value):
        response = acme_api.post_json(PATH, BODY | {field: value})

        assert response.status_code == 400
        assert response["Content-Type"] == "application/problem+json"
        assert not FundingSource.objects.exists()

    @pytest.mark.parametrize(
        "name",
        ["José Café Łódź", "-1+2", "@cmd", '"; drop table', "O'Neil & Sons", "%s %(x)s"],
    )
    def test_keeps_a_name_as_the_text_it_is(self, acme_api, name):
        made = acme_api.post_json(PATH, BODY | {"accountHolderName": name}).json()["data"]

        assert made["accountHolderName"] == name

    @pytest.mark.parametrize("field", ["verified", "status", "isDefault", "bankName", "tenantId"])
    def test_refuses_fields_it_does_not_know(self, acme_api, field):
        response = acme_api.post_json(PATH, BODY | {field: True})

        assert (response.status_code, response.json()["code"]) == (400, "unknown_field")
        assert not FundingSource.objects.exists()


class TestSecrecy:
    def test_the_number_is_in_no_reply_event_log_or_table(self, acme_api, raw_log):
        made = acme_api.post_json(PATH, BODY, **{"Idempotency-Key": "once"})
        source_id = made.json()["data"]["id"]
        path = f"/api/v1/balance/funding-sources/{source_id}"
        replies = [
            made,
            acme_api.post_json(PATH, BODY, **{"Idempotency-Key": "once"}),
            acme_api.post_json(PATH, BODY),
            acme_api.get("/api/v1/balance/funding-sources"),
            acme_api.get(path),
            acme_api.post_json(f"{path}/default"),
            acme_api.delete(path),
        ]

        assert [reply.status_code for reply in replies] == [201, 201, 409, 200, 200, 200, 200]
        texts = [str(reply.content) + str(reply.headers) for reply in replies]
        texts += [raw_log.text, everything_stored()]
        assert not any(CANARY in text for text in texts)

    @pytest.mark.parametrize(
        "change",
        [
            {"routingNumber": "123456789"},
            {"accountHolderName": "\u202e"},
            {"accountHolderType": CANARY},
            {"accountType": CANARY},
            {"routingNumber": CANARY},
            {"unknown": "field"},
            {"accountNumber": CANARY + "!"},
            {"accountNumber": CANARY * 2},
            {"accountNumber": CANARY * 10},
            {"accountNumber": CANARY + "\n"},
            {"accountNumber": int(CANARY)},
            {"accountNumber": [CANARY]},
            {"accountNumber": {"number": CANARY}},
        ],
    )
    def test_no_refusal_repeats_the_number(self, acme_api, raw_log, change):
        response = acme_api.post_json(PATH, BODY | change)

        assert response.status_code == 400
        texts = [str(response.content), raw_log.text]
        assert not any(CANARY in text for text in texts)

    def test_broken_json_is_not_repeated(self, acme_api):
        response = acme_api.post(PATH, json.dumps(BODY)[:-1], content_type="application/json")

        assert (response.status_code, response.json()["code"]) == (400, "malformed_json")
        assert CANARY not in response.content.decode()

    def test_a_bug_tells_neither_log_nor_caller(self, acme_api, raw_log, settings):
        settings.ENCRYPTION_KEYS = ["broken:AAAA"]

        response = acme_api.post_json(PATH, BODY)

        assert response.status_code == 500
        assert "Traceback" in raw_log.text
        assert CANARY not in raw_log.text + response.content.decode()

    def test_no_object_shows_it(self):
        account = BankAccount(
            routing_number="021000021",
            account_number=CANARY,
            holder_name="Acme Inc",
            holder_type=HolderType.BUSINESS,
            account_type=AccountType.CHECKING,
        )

        assert CANARY not in repr(account) + str(account)
