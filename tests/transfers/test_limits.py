"""A limit per transfer is that of the tenant's own network: shown and enforced alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.urls import reverse

from funding.models import FundingLimit, FundingSource
from payments.models import Recipient
from payments.services import recipients
from tenants.actors import SYSTEM
from tenants.models import Role, Tenant
from tests.balance.builders import fund
from tests.builders import NOW, browser_of, make_member, make_source
from tests.networks.scripted import BankOfOneLimit
from tests.payments.builders import account
from transfers import route_changes

LIMITS = "/api/v1/balance/limits"
LOWER, HIGHER = 40_000, 10**12


class OtherBank(BankOfOneLimit):
    name = "other"


def top_up(tenant, amount):
    source = FundingSource.objects.filter(tenant=tenant).first() or make_source(tenant)
    return "/api/v1/balance/topup", {"amount": amount, "fundingSourceId": source.pk}


def payment(tenant, amount):
    saved = Recipient.objects.filter(tenant=tenant).first() or recipients.save(
        tenant_id=tenant.pk, details=account(), actor=SYSTEM, now=NOW
    )
    return "/api/v1/payments", {"amount": amount, "recipientId": saved.pk}


@dataclass(frozen=True)
class Direction:
    """How it is asked for, where its limits stand, which page offers it."""

    ask: Callable[[Tenant, int], tuple[str, dict[str, object]]]
    shown: tuple[str, ...]
    method: str
    page: str

    def most(self, api):
        found = api.get(LIMITS).json()["data"]
        for name in self.shown:
            found = found[name]
        return found[self.method]

    def refused(self, api, tenant, amount):
        path, body = self.ask(tenant, amount)
        answer = api.post_json(path, body)
        return answer.json()["limit"] if answer.status_code == 422 else None


DIRECTIONS = (
    Direction(top_up, ("perTransaction",), "ach_debit", "dashboard:topup"),
    Direction(payment, ("payments", "perTransaction"), "ach_credit", "dashboard:pay"),
)


@pytest.fixture(params=DIRECTIONS, ids=["in", "out"])
def direction(request):
    return request.param


def test_the_least_of_operator_and_network_is_shown_and_enforced(
    acme, acme_api, direction, connect
):
    fund(acme, 10 * LOWER)
    connect(BankOfOneLimit(LOWER))
    owner = browser_of(make_member(acme, email="ann@example.com", role=Role.OWNER))

    assert direction.most(acme_api) == LOWER
    assert direction.refused(acme_api, acme, LOWER + 1) == LOWER
    assert "$400.00" in owner.get(reverse(direction.page)).content.decode()
    assert direction.refused(acme_api, acme, LOWER) is None


def test_a_network_of_another_mode_changes_nothing(acme, acme_api, direction, connect):
    connect(BankOfOneLimit(LOWER))
    connect(OtherBank(HIGHER), modes=("live",))

    assert direction.most(acme_api) == LOWER


def test_the_network_a_method_does_not_go_to_changes_nothing(acme, acme_api, direction, connect):
    connect(BankOfOneLimit(LOWER))
    connect(OtherBank(HIGHER))

    assert direction.most(acme_api) == LOWER


def test_a_method_that_no_network_carries_has_no_limit(acme, acme_api):
    """Whoever asks for it is refused."""
    for method in ("rtp_request", "rtp_credit"):
        route_changes.close_route(
            mode="sandbox", method=method, reason="The bank is away", actor=SYSTEM, now=NOW
        )

    found = acme_api.get(LIMITS).json()["data"]

    assert found["perTransaction"].keys() == {"ach_debit"}
    assert found["payments"]["perTransaction"].keys() == {"ach_credit"}


class TestATenantsOwnLimit:
    @pytest.mark.parametrize(("own", "most"), [(LOWER - 1, LOWER - 1), (LOWER + 1, LOWER)])
    def test_is_never_above_what_its_network_takes(self, acme, acme_api, connect, own, most):
        connect(BankOfOneLimit(LOWER))
        FundingLimit.objects.create(tenant=acme, ach_transaction_max=own)

        assert DIRECTIONS[0].most(acme_api) == most
        assert DIRECTIONS[0].refused(acme_api, acme, most + 1) == most
        assert DIRECTIONS[0].refused(acme_api, acme, most) is None

    def test_may_be_above_the_operators(self, acme, acme_api, settings):
        settings.ACH_AMOUNT_MAX = LOWER
        FundingLimit.objects.create(tenant=acme, ach_transaction_max=LOWER + 1)

        assert DIRECTIONS[0].most(acme_api) == LOWER + 1
        assert DIRECTIONS[0].refused(acme_api, acme, LOWER + 1) is None
