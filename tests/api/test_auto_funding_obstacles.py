"""`lastDeclineReason` of GET /api/v1/balance/auto-funding/config"""

from __future__ import annotations

import pytest

from balance import services as ledger
from common.clock import utc_now
from funding.models import AutoFundingConfig, AutoFundingDecision, FundingTransaction
from funding.services import auto_funding, auto_funding_checks
from funding.states import FundingStatus
from tests.balance.builders import fund, movement
from tests.builders import make_auto_funding
from tests.funding.builders import run_due
from tests.funding.obstacles import OBSTACLES, ready

PATH = "/api/v1/balance/auto-funding/config"
NOT_DECIDED_BY_A_RULE = {"funding_stopped"}


def reason(api):
    return api.get(PATH).json()["data"]["lastDeclineReason"]


@pytest.mark.parametrize(
    ("expected", "setup"), [row for row in OBSTACLES if row[0] != "tenant_suspended"]
)
class TestIsSaid:
    def test_before_the_balance_is_low(self, acme, acme_api, expected, setup):
        fund(acme, 1_000_000)
        ready(acme)
        assert reason(acme_api) is None

        setup(acme)

        assert reason(acme_api) == expected
        assert not AutoFundingDecision.objects.exists()

    def test_as_the_decision_says_it_when_it_is(self, acme, acme_api, expected, setup):
        ready(acme)
        setup(acme)

        auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())

        decision = AutoFundingDecision.objects.get()
        assert reason(acme_api) == expected
        if expected in NOT_DECIDED_BY_A_RULE:
            assert (decision.outcome, decision.reason) == ("fired", "below_threshold")
        else:
            assert (decision.outcome, decision.reason) == ("declined", expected)
            assert not FundingTransaction.objects.filter(trigger="auto_funding", status="reserved")


def test_a_suspended_tenant_is_refused_by_the_api_and_told_by_pages(acme, acme_api):
    ready(acme)
    dict(OBSTACLES)["tenant_suspended"](acme)

    config = AutoFundingConfig.objects.get()
    found = auto_funding_checks.obstacle_of(config, now=utc_now())

    assert acme_api.get(PATH).status_code == 403
    assert found is not None
    assert (found.reason, found.detail) == ("tenant_suspended", "The tenant is suspended.")


class TestIsNull:
    def test_after_it_fired_and_while_that_is_on_its_way(self, acme, acme_api):
        ready(acme)

        auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())
        auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())

        assert reason(acme_api) is None

    def test_where_it_is_switched_off(self, acme, acme_api):
        make_auto_funding(acme, enabled=False)

        shown = acme_api.get(PATH).json()["data"]

        assert (shown["status"], shown["lastDeclineReason"]) == ("disabled", None)

    def test_as_soon_as_the_reason_is_gone(self, acme, acme_api):
        ready(acme)
        AutoFundingConfig.objects.update(monthly_limit=49_999)
        auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())
        assert reason(acme_api) == "auto_funding_monthly_limit"

        acme_api.post_json(PATH, {"monthlyLimit": None})

        assert reason(acme_api) is None


def test_the_month_used_up_by_the_tenants_own_rule(acme, acme_api):
    """From the review: one automatic funding of $500.00, a limit of $500.00, low again."""
    ready(acme)
    acme_api.post_json(PATH, {"monthlyLimit": 50_000})
    run_due(now=utc_now())
    assert FundingTransaction.objects.get().status == FundingStatus.COMPLETED
    ledger.lock(**movement(acme, 45_000))

    auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())

    shown = acme_api.get(PATH).json()["data"]
    assert shown["fundedThisMonth"] == 50_000
    assert (shown["status"], shown["lastDeclineReason"]) == ("active", "auto_funding_monthly_limit")
