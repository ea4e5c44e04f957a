"""/api/v1/sandbox/…"""

from __future__ import annotations

import pytest

from balance import selectors as ledger
from funding.models import FundingTransaction
from tenants.models import Mode
from tests.builders import ApiClient, make_key, make_source, make_tenant
from tests.funding.builders import top_up

PATH = "/api/v1/sandbox"


def step(api, funding, name, **headers):
    return api.post_json(f"{PATH}/funding-transactions/{funding.pk}/{name}", **headers)


@pytest.fixture
def stuck(acme):
    """A top-up from the account that stays pending for ever."""
    return top_up(acme, source=make_source(acme, account_number="30001"))


class TestSteps:
    def test_advance_walks_through_all_statuses(self, acme_api, stuck):
        seen = [step(acme_api, stuck, "advance").json()["data"]["status"] for _ in range(3)]

        assert seen == ["pending", "in_transit", "completed"]

    @pytest.mark.parametrize(
        ("name", "status", "returned"),
        [("complete", "completed", False), ("fail", "failed", False), ("return", "failed", True)],
    )
    def test_one_step_goes_all_the_way(self, acme, acme_api, stuck, name, status, returned):
        found = step(acme_api, stuck, name).json()["data"]

        assert (found["status"], found["returned"]) == (status, returned)
        assert ledger.summary(acme.pk).pending == 0

    def test_a_return_after_completion_takes_the_money_back(self, acme, acme_api, stuck):
        step(acme_api, stuck, "complete")

        step(acme_api, stuck, "return")

        assert ledger.summary(acme.pk).available == 0
        assert [row["type"] for row in ledger.transactions(acme.pk)] == ["credit", "debit"]

    def test_what_no_bank_could_do_is_refused(self, acme_api, stuck):
        step(acme_api, stuck, "return")

        response = step(acme_api, stuck, "complete")

        body = response.json()
        assert (response.status_code, body["code"]) == (409, "sandbox_refused")
        assert body["detail"] == "It has been returned R01, so it cannot be settled."
        assert FundingTransaction.objects.get().status == "failed"

    def test_what_no_bank_has_is_refused_with_its_status(self, acme_api, stuck):
        acme_api.post_json(f"/api/v1/funding/transactions/{stuck.pk}/cancel")

        body = step(acme_api, stuck, "complete").json()

        assert body["code"] == "sandbox_refused"
        assert body["detail"] == "No bank has been handed this: it is failed."
        assert body["currentStatus"] == "failed"

    def test_the_same_key_advances_once(self, acme_api, stuck):
        first, second = (
            step(acme_api, stuck, "advance", **{"Idempotency-Key": "k"}) for _ in range(2)
        )

        assert first.content == second.content
        assert FundingTransaction.objects.get().status == "pending"

    def test_unknown_steps_and_ids_are_404(self, acme_api, stuck, rival):
        unknown = step(acme_api, stuck, "explode")
        assert unknown.status_code == 404
        assert unknown.json()["detail"] == (
            "There is no step explode. Steps: advance, complete, fail, return."
        )
        assert step(acme_api, top_up(rival), "complete").status_code == 404


class TestProcessDue:
    def test_answers_when_everything_due_has_run(self, acme, acme_api):
        funding = top_up(acme)

        response = acme_api.post_json(f"{PATH}/process-due")

        steps = response.json()["data"]["transitions"]
        assert [(item["id"], item["toStatus"]) for item in steps] == [
            (funding.pk, "pending"),
            (funding.pk, "in_transit"),
            (funding.pk, "completed"),
        ]

    def test_shows_only_the_tenants_own_transitions(self, acme_api, rival):
        top_up(rival)

        response = acme_api.post_json(f"{PATH}/process-due")

        assert response.json()["data"] == {"transitions": []}

    def test_sends_and_answers_micro_deposits(self, acme, acme_api):
        source = make_source(acme, account_number="50000")

        response = acme_api.post_json(f"{PATH}/process-due")

        (step_made,) = response.json()["data"]["transitions"]
        assert (step_made["id"], step_made["fromStatus"], step_made["toStatus"]) == (
            source.pk,
            "pending_verification",
            "verification_failed",
        )
        shown = acme_api.get(f"/api/v1/balance/funding-sources/{source.pk}").json()["data"]
        assert (shown["status"], shown["lastReturnCode"]) == ("verification_failed", "R03")


def test_live_tenants_do_not_have_any_of_it(db):
    tenant = make_tenant(mode=Mode.LIVE)
    api = ApiClient(make_key(tenant))

    for path in ("process-due", "funding-transactions/ftx_00000000000000000000000000/advance"):
        assert api.post_json(f"{PATH}/{path}").status_code == 404
