"""POST /api/v1/balance/topup"""

from __future__ import annotations

import pytest

from balance import selectors as ledger
from balance import services
from common.clock import utc_now
from common.money import AMOUNT_MAX
from funding.models import FundingLimit, FundingTransaction
from funding.services import sources
from networks.sandbox.models import SandboxInstruction
from tenants.models import Mode
from tests.builders import ApiClient, make_key, make_source, make_tenant
from tests.funding.builders import run_due
from tests.funding.live_network import make_early_source
from tests.funding.test_authorizations import REFUSAL

PATH = "/api/v1/balance/topup"


@pytest.fixture
def source(acme):
    return make_source(acme)


def body(source, **changes):
    return {"amount": 25_000, "fundingSourceId": source.pk, **changes}


class TestAccepting:
    def test_answers_201_with_the_reserved_funding(self, acme_api, source):
        response = acme_api.post_json(
            PATH, body(source, description="August", metadata={"po": "7"})
        )

        assert response.status_code == 201
        funding = response.json()["data"]
        assert response["Location"] == f"/api/v1/funding/transactions/{funding['id']}"
        assert acme_api.get(response["Location"]).json()["data"] == funding
        assert {
            "amount": 25_000,
            "currency": "USD",
            "status": "reserved",
            "fundingMethod": "ach_debit",
            "fundingSourceId": source.pk,
            "trigger": "topup",
            "description": "August",
            "metadata": {"po": "7"},
            "requiresConfirmation": False,
            "approval": None,
            "returned": False,
            "balanceTransactionIds": [],
        }.items() <= funding.items()
        assert funding["createdBy"]["type"] == "api_key"

    def test_shows_the_posting_once_the_money_is_there(self, acme, acme_api, source):
        funding = acme_api.post_json(PATH, body(source)).json()["data"]
        run_due(now=utc_now())

        found = acme_api.get(f"/api/v1/funding/transactions/{funding['id']}").json()["data"]

        (credit,) = ledger.transactions(acme.pk)
        assert found["status"] == "completed"
        assert found["balanceTransactionIds"] == [credit["id"]]

    def test_the_same_key_twice_is_one_funding_and_one_debit(self, acme_api, source):
        first, second = (
            acme_api.post_json(PATH, body(source), **{"Idempotency-Key": "k-1"}) for _ in range(2)
        )
        run_due(now=utc_now())

        assert first.content == second.content
        assert second["Idempotent-Replayed"] == "true"
        assert FundingTransaction.objects.count() == SandboxInstruction.objects.count() == 1

    def test_costs_six_statements(self, acme, acme_api, source, django_assert_num_queries):
        acme_api.post_json(PATH, body(source))  # the first use of a key notes when it was used

        with django_assert_num_queries(8) as queries:
            acme_api.post_json(PATH, body(source), **{"Idempotency-Key": "k-1"})

        texts = [" ".join(query["sql"].split()) for query in queries.captured_queries]
        assert [text.split(" ")[0] for text in texts] == [
            "SELECT",  # the key
            "SAVEPOINT",  # BEGIN, outside of tests
            "SELECT",  # the lock of the Idempotency-Key, and its answer
            "SELECT",  # the bank account, limits, the threshold
            "WITH",  # the funding, its history, the event and its deliveries
            "INSERT",  # the answer
            "SELECT",  # the function that changes the balance, which others wait for
            "RELEASE",  # COMMIT
        ]

    def test_without_an_answer_to_keep_it_costs_four(
        self, acme, acme_api, source, django_assert_num_queries
    ):
        acme_api.post_json(PATH, body(source))

        with django_assert_num_queries(6):
            acme_api.post_json(PATH, body(source))


class TestRefusing:
    @pytest.mark.parametrize("amount", [0, -1, "100", 100.0, True, None, [], 10**16, 1e3])
    def test_amounts_that_are_not_a_positive_whole_number_of_cents(self, acme_api, source, amount):
        response = acme_api.post_json(PATH, body(source, amount=amount))

        assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
        assert response.json()["errors"][0]["field"] == "amount"
        assert not FundingTransaction.objects.exists()

    def test_fields_it_does_not_know(self, acme_api, source):
        response = acme_api.post_json(PATH, body(source, status="completed"))

        assert (response.status_code, response.json()["code"]) == (400, "unknown_field")

    @pytest.mark.parametrize("source_id", ["abc", "fs_00000000000000000000000000", "", 5, None])
    def test_a_source_that_is_not_there(self, acme_api, source, source_id):
        response = acme_api.post_json(PATH, body(source, fundingSourceId=source_id))

        assert response.status_code in {400, 404}
        assert not FundingTransaction.objects.exists()

    def test_a_source_of_another_tenant(self, acme_api, rival):
        response = acme_api.post_json(PATH, body(make_source(rival)))

        assert (response.status_code, response.json()["code"]) == (404, "not_found")
        assert not FundingTransaction.objects.exists()

    def test_an_account_whose_holder_has_to_agree_again(self, acme, acme_api, source):
        sources.note_return(source=source, return_code="R07", now=utc_now())

        response = acme_api.post_json(PATH, body(source))

        assert response.status_code == 422
        problem = response.json()
        assert problem["code"] == "funding_source_not_authorized"
        assert problem["detail"] == REFUSAL
        assert [error["field"] for error in problem["errors"]] == ["fundingSourceId"]
        assert ledger.summary(acme.pk).pending == 0

    def test_more_than_the_method_allows(self, acme_api, source):
        response = acme_api.post_json(PATH, body(source, amount=100_000_001))

        problem = response.json()
        assert (response.status_code, problem["code"]) == (422, "amount_above_limit")
        assert problem["detail"] == "At most $1,000,000.00 per transaction by ACH debit."

    def test_more_than_staff_allow_a_day(self, acme, acme_api, source):
        FundingLimit.objects.create(tenant=acme, daily_max=30_000)
        assert acme_api.post_json(PATH, body(source)).status_code == 201

        response = acme_api.post_json(PATH, body(source, amount=5_001))

        assert (response.status_code, response.json()["code"]) == (422, "daily_limit_exceeded")
        assert FundingTransaction.objects.count() == 1

    def test_more_than_may_be_on_its_way(self, acme, acme_api, source):
        services.change_pending(tenant_id=acme.pk, delta=AMOUNT_MAX)

        for headers in ({}, {"Idempotency-Key": "k-1"}, {"Idempotency-Key": "k-1"}):
            response = acme_api.post_json(PATH, body(source, amount=1), **headers)

            assert (response.status_code, response.json()["code"]) == (422, "balance_out_of_range")
        assert response["Idempotent-Replayed"] == "true"
        assert not FundingTransaction.objects.exists()

    def test_a_live_tenant_while_no_live_network_is_connected(self, db):
        tenant = make_tenant(mode=Mode.LIVE)
        api = ApiClient(make_key(tenant))

        response = api.post_json(PATH, body(make_early_source(tenant)))

        assert response.status_code == 422
        assert response.json()["code"] == "funding_method_not_supported"
        assert not SandboxInstruction.objects.exists()

    def test_a_key_that_may_only_read(self, acme, source):
        api = ApiClient(make_key(acme, scopes=["funding:read"]))

        response = api.post_json(PATH, body(source))

        assert (response.status_code, response.json()["code"]) == (403, "insufficient_scope")


class TestLimits:
    def test_shows_what_is_used(self, acme, acme_api, source):
        FundingLimit.objects.create(tenant=acme, daily_max=30_000, rtp_transaction_max=500)
        acme_api.post_json(PATH, body(source))

        limits = acme_api.get("/api/v1/balance/limits").json()["data"]

        assert limits["perTransaction"] == {"ach_debit": 100_000_000, "rtp": 500}
        daily = limits["daily"]
        assert (daily["limit"], daily["used"], daily["remaining"]) == (30_000, 25_000, 5_000)
        assert limits["monthly"]["limit"] is None
