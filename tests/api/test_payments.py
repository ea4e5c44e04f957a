"""Payments as they are ordered."""

from __future__ import annotations

import json

import pytest

from balance import selectors as ledger
from common.clock import utc_now
from networks.sandbox.models import SandboxInstruction
from payments.models import Payment, Recipient
from payments.services import recipients, waiting
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tenants.models import Mode
from tests.builders import NOW, ApiClient, make_key, make_tenant
from tests.payments.builders import account, fund, funds_of, run_due, take
from transfers import submission
from webhooks.models import WebhookEvent

PATH = "/api/v1/payments"
ACCOUNT = {
    "accountNumber": "000123456789",
    "routingNumber": "021000021",
    "accountHolderName": "Supplier LLC",
    "accountHolderType": "business",
    "accountType": "checking",
}


@pytest.fixture
def funded(acme):
    fund(acme, 50_000)
    return acme


def body(**changes):
    return {"amount": 20_000, "recipient": ACCOUNT, "method": "ach_credit", **changes}


class TestAccepting:
    def test_answers_201_with_the_payment(self, funded, acme_api):
        response = acme_api.post_json(PATH, body(description="Invoice 7", metadata={"po": "7"}))

        assert response.status_code == 201
        payment = response.json()["data"]
        assert response["Location"] == f"{PATH}/{payment['id']}"
        assert acme_api.get(response["Location"]).json()["data"] == payment
        (lock,) = ledger.transactions(funded.pk).filter(type="lock")
        assert {
            "amount": 20_000,
            "currency": "USD",
            "status": "created",
            "method": "ach_credit",
            "methodUsed": "ach_credit",
            "network": None,
            "attempts": [],
            "recipientId": None,
            "description": "Invoice 7",
            "metadata": {"po": "7"},
            "waitForFunds": False,
            "waitsUntil": None,
            "onHold": False,
            "heldBackAt": None,
            "failureCode": None,
            "returned": False,
            "traceNumber": None,
            "balanceTransactionIds": [lock["id"]],
        }.items() <= payment.items()
        assert payment["createdBy"]["type"] == "api_key"
        assert payment["statusTimestamps"]["createdAt"] == payment["createdAt"]

    def test_shows_by_which_ways_an_automatic_one_went(self, funded, acme_api):
        to = {**ACCOUNT, "accountNumber": "51001"}
        made = acme_api.post_json(PATH, body(method="auto", recipient=to)).json()["data"]
        assert (made["method"], made["methodUsed"], made["network"]) == ("auto", "rtp", "rtp")
        run_due(now=utc_now(), rounds=8)

        shown = acme_api.get(f"{PATH}/{made['id']}").json()["data"]
        listed = acme_api.get(PATH, {"method": "auto"}).json()["data"]

        assert listed == [shown]
        assert (shown["method"], shown["methodUsed"], shown["network"]) == (
            "auto",
            "ach_credit",
            None,
        )
        first, second = shown["attempts"]
        assert {
            "number": 1,
            "method": "rtp",
            "network": "rtp",
            "outcome": "refused",
            "code": "NOAT",
        }.items() <= first.items()
        assert first["startedAt"] <= first["endedAt"]
        assert {
            "number": 2,
            "method": "ach_credit",
            "network": None,
            "outcome": "completed",
            "code": None,
            "startedAt": shown["statusTimestamps"]["processingAt"],
            "endedAt": shown["statusTimestamps"]["completedAt"],
        } == second
        told = json.loads(bytes(WebhookEvent.objects.latest("sequence").body))["data"]
        assert told["attempts"] == shown["attempts"]
        assert (told["method"], told["methodUsed"]) == ("auto", "ach_credit")
        assert acme_api.get(PATH, {"method": "ach_credit"}).json()["data"] == []

    def test_says_since_when_one_is_held_back(self, funded, acme_api):
        payment = acme_api.post_json(PATH, body()).json()["data"]
        assert payment["expectedArrivalDate"] is not None
        take(funded, 2_000_000)
        submission.submit_due(PAYMENTS, now=utc_now())

        shown = acme_api.get(f"{PATH}/{payment['id']}").json()["data"]
        assert (shown["status"], shown["expectedArrivalDate"]) == ("created", None)
        assert shown["heldBackAt"] == shown["updatedAt"] > payment["createdAt"]
        assert acme_api.get(PATH).json()["data"] == [shown]

        fund(funded, 2_000_000)
        waiting.run_due(now=utc_now())
        shown = acme_api.get(f"{PATH}/{payment['id']}").json()["data"]
        assert shown["heldBackAt"] is None
        assert shown["expectedArrivalDate"] is not None

    def test_never_shows_the_account_number_again(self, funded, acme_api):
        response = acme_api.post_json(PATH, body())

        assert response.json()["data"]["recipient"] == {
            "bankName": "JPMorgan Chase",
            "last4": "6789",
            "routingNumber": "021000021",
            "accountHolderName": "Supplier LLC",
            "accountHolderType": "business",
            "accountType": "checking",
        }
        for answer in (response, acme_api.get(response["Location"]), acme_api.get(PATH)):
            assert b"000123456789" not in answer.content

    def test_a_saved_recipient_needs_no_account_number(self, funded, acme_api):
        saved = recipients.save(tenant_id=funded.pk, details=account(), actor=SYSTEM, now=NOW)

        response = acme_api.post_json(PATH, {"amount": 100, "recipientId": saved.pk})

        assert response.status_code == 201
        payment = response.json()["data"]
        assert (payment["recipientId"], payment["method"]) == (saved.pk, "ach_credit")
        assert payment["recipient"]["last4"] == "6789"

    def test_shows_all_its_postings_at_the_end(self, funded, acme_api):
        payment = acme_api.post_json(PATH, body(method="rtp")).json()["data"]
        run_due(now=utc_now())

        found = acme_api.get(f"{PATH}/{payment['id']}").json()["data"]

        rows = ledger.transactions(funded.pk).filter(source_id=payment["id"]).order_by("sequence")
        assert found["status"] == "completed"
        assert [row["type"] for row in rows] == ["lock", "settlement"]
        assert found["balanceTransactionIds"] == [row["id"] for row in rows]

    def test_the_same_key_twice_is_one_payment(self, funded, acme_api):
        first, second = (
            acme_api.post_json(PATH, body(), **{"Idempotency-Key": "k-1"}) for _ in range(2)
        )
        run_due(now=utc_now())

        assert first.content == second.content
        assert second["Idempotent-Replayed"] == "true"
        assert Payment.objects.count() == SandboxInstruction.objects.count() == 1
        assert funds_of(funded) == (30_000, 0)


class TestRefusing:
    def test_more_than_is_available(self, funded, acme_api):
        response = acme_api.post_json(PATH, body(amount=50_001))

        assert (response.status_code, response.json()["code"]) == (422, "insufficient_balance")
        assert response.json()["availableBalance"] == 50_000
        assert response.json()["shortfall"] == 1
        assert not Payment.objects.exists()
        assert not Recipient.objects.exists()

    @pytest.mark.parametrize("amount", [0, -1, "100", 100.0, True, None, [], 10**16, 1e3])
    def test_amounts_that_are_not_a_positive_whole_number_of_cents(self, funded, acme_api, amount):
        response = acme_api.post_json(PATH, body(amount=amount))

        assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
        assert response.json()["errors"][0]["field"] == "amount"
        assert not Payment.objects.exists()

    @pytest.mark.parametrize(
        ("changes", "code", "field"),
        [
            ({"status": "completed"}, "unknown_field", "status"),
            ({"recipient": ACCOUNT | {"iban": "x"}}, "unknown_field", "recipient.iban"),
            ({"recipient": {}}, "invalid_request", "recipient.accountNumber"),
            ({"recipient": "rcp_1"}, "invalid_request", "recipient"),
            ({"recipient": None}, "invalid_request", "recipient"),
            ({"recipientId": "rcp_1"}, "invalid_request", "recipient"),
            ({"method": "ach_debit"}, "invalid_request", "method"),
            ({"waitForFunds": "yes"}, "invalid_request", "waitForFunds"),
            ({"description": "x" * 141}, "invalid_request", "description"),
            ({"metadata": {"a": 1}}, "invalid_request", "metadata"),
            (
                {"recipient": ACCOUNT | {"routingNumber": "123456789"}},
                "invalid_bank_details",
                "routingNumber",
            ),
            (
                {"recipient": ACCOUNT | {"accountNumber": "4111111111111111"}},
                "invalid_bank_details",
                "accountNumber",
            ),
        ],
    )
    def test_bodies_that_make_no_sense(self, funded, acme_api, changes, code, field):
        response = acme_api.post_json(PATH, body(**changes))

        assert (response.status_code, response.json()["code"]) == (400, code)
        assert field in [error["field"] for error in response.json()["errors"]]
        assert not Payment.objects.exists()

    def test_no_recipient_at_all(self, funded, acme_api):
        response = acme_api.post_json(PATH, {"amount": 100})

        assert (response.status_code, response.json()["code"]) == (400, "invalid_request")

    @pytest.mark.parametrize("recipient_id", ["abc", "rcp_00000000000000000000000000", "a\u0000b"])
    def test_a_recipient_that_is_not_there(self, funded, acme_api, recipient_id):
        response = acme_api.post_json(PATH, {"amount": 100, "recipientId": recipient_id})

        assert response.status_code in {400, 404}
        assert not Payment.objects.exists()

    def test_a_recipient_of_another_tenant(self, funded, acme_api, rival):
        saved = recipients.save(tenant_id=rival.pk, details=account(), actor=SYSTEM, now=NOW)

        response = acme_api.post_json(PATH, {"amount": 100, "recipientId": saved.pk})

        assert (response.status_code, response.json()["code"]) == (404, "not_found")

    def test_a_removed_recipient(self, funded, acme_api):
        saved = recipients.save(tenant_id=funded.pk, details=account(), actor=SYSTEM, now=NOW)
        recipients.remove(tenant_id=funded.pk, recipient_id=saved.pk, actor=SYSTEM, now=NOW)

        response = acme_api.post_json(PATH, {"amount": 100, "recipientId": saved.pk})

        assert (response.status_code, response.json()["code"]) == (422, "recipient_removed")

    def test_more_than_the_method_allows(self, funded, acme_api):
        response = acme_api.post_json(PATH, body(amount=100_000_001))

        assert (response.status_code, response.json()["code"]) == (422, "amount_above_limit")
        assert response.json()["limit"] == 100_000_000

    def test_a_live_tenant_while_no_live_network_is_connected(self, db):
        tenant = make_tenant(mode=Mode.LIVE)
        fund(tenant, 50_000)

        response = ApiClient(make_key(tenant)).post_json(PATH, body())

        assert response.status_code == 422
        assert response.json()["code"] == "payment_method_not_supported"
        assert not SandboxInstruction.objects.exists()

    def test_a_key_that_may_only_read(self, funded):
        api = ApiClient(make_key(funded, scopes=["payments:read"]))

        response = api.post_json(PATH, body())

        assert (response.status_code, response.json()["code"]) == (403, "insufficient_scope")
        assert api.get(PATH).status_code == 200


class TestWaiting:
    def test_short_of_money_it_waits_and_says_until_when(self, acme, acme_api):
        response = acme_api.post_json(PATH, body(waitForFunds=True))

        assert response.status_code == 201
        payment = response.json()["data"]
        assert (payment["status"], payment["waitForFunds"]) == ("waiting_for_funds", True)
        assert payment["waitsUntil"] > payment["createdAt"]
        assert payment["statusTimestamps"]["createdAt"] is None
        assert payment["balanceTransactionIds"] == []
        assert payment["expectedArrivalDate"] is None
        assert funds_of(acme) == (0, 0)

    def test_it_runs_when_money_arrives(self, acme, acme_api):
        payment = acme_api.post_json(PATH, body(waitForFunds=True)).json()["data"]
        fund(acme, 20_000)
        run_due(now=utc_now())

        found = acme_api.get(f"{PATH}/{payment['id']}").json()["data"]

        assert (found["status"], found["waitsUntil"]) == ("completed", None)
        assert found["statusTimestamps"]["waitingForFundsAt"] == payment["createdAt"]
        assert funds_of(acme) == (0, 0)
