"""What a switch stops stays due, goes on after the release, and happens once."""

from __future__ import annotations

from typing import Any

import pytest

from balance import invariants
from funding.models import FundingTransaction, SourceVerification
from funding.services import deposits
from networks.sandbox.models import SandboxInstruction
from tenants.actors import SYSTEM
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import NOW, ApiClient, make_endpoint, make_key, make_source, publish
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.payments.builders import fund, pay
from tests.payments.builders import run_due as run_payments
from webhooks.dispatcher import claims
from webhooks.errors import WebhooksStopped
from webhooks.models import WebhookDelivery
from webhooks.services import pings


def engage(kind, **scope):
    return switches.engage(kind=kind, reason="Look first", actor=SYSTEM, now=NOW, **scope)


def release(switch):
    switches.release(switch_id=switch.pk, reason="Looked", actor=SYSTEM, now=NOW)


def covering(tenant):
    return [{}, {"network": "sandbox"}, {"tenant_id": tenant.pk}]


def status_of(row):
    row.refresh_from_db()
    return row.status


@pytest.mark.parametrize("scope", [0, 1, 2])
class TestSubmissions:
    def test_of_funding_wait_and_go_on_once(self, acme, scope):
        funding = top_up(acme)
        switch = engage(SwitchKind.FUNDING, **covering(acme)[scope])

        run_funding()
        assert (status_of(funding), funding.attempts) == ("reserved", 0)
        assert funding.next_attempt_at == NOW

        release(switch)
        run_funding()
        run_funding()
        assert status_of(funding) == "completed"
        assert SandboxInstruction.objects.get().submissions == 1
        assert invariants.check(now=NOW, full=True).findings == []

    def test_of_payments_wait_and_go_on_once(self, acme, scope):
        fund(acme, 500)
        payment = pay(acme, 500)
        switch = engage(SwitchKind.PAYMENTS, **covering(acme)[scope])

        run_payments()
        assert (status_of(payment), payment.attempts) == ("created", 0)

        release(switch)
        run_payments()
        run_payments()
        assert status_of(payment) == "completed"
        assert SandboxInstruction.objects.get().submissions == 1

    def test_of_deposits_wait_and_go_on_once(self, acme, scope):
        make_source(acme, account_number="50001")
        switch = engage(SwitchKind.FUNDING, **covering(acme)[scope])

        assert deposits.send_due(now=NOW) == 0
        assert SourceVerification.objects.get().attempts == 0

        release(switch)
        assert [deposits.send_due(now=NOW) for _ in range(2)] == [1, 0]


def test_a_switch_stops_nothing_else(acme, rival):
    engage(SwitchKind.FUNDING, tenant_id=rival.pk)
    engage(SwitchKind.PAYMENTS)
    funding = top_up(acme)

    run_funding()

    assert status_of(funding) == "completed"


class TestWebhooks:
    @pytest.mark.parametrize("for_all", [True, False])
    def test_wait_and_go_on(self, acme, rival, for_all):
        for tenant in (acme, rival):
            make_endpoint(tenant)
            publish(tenant)
        switch = engage(SwitchKind.WEBHOOKS, **({} if for_all else {"tenant_id": acme.pk}))
        claim: dict[str, Any] = {"slots": 10, "retry_slots": 5, "now": NOW}

        assert len(claims.claim(**claim).jobs) == (0 if for_all else 1)
        assert WebhookDelivery.objects.filter(attempts=0).count() == (2 if for_all else 1)

        release(switch)
        assert len(claims.claim(**claim).jobs) == (2 if for_all else 1)

    def test_are_not_tested_either(self, acme):
        endpoint = make_endpoint(acme)
        engage(SwitchKind.WEBHOOKS)

        with pytest.raises(WebhooksStopped):
            pings.ping(tenant_id=acme.pk, endpoint_id=endpoint.pk, mode="sandbox", now=NOW)


class TestReadOnly:
    def test_refuses_changes_by_api_and_nothing_else(
        self, acme, rival, acme_api, django_assert_num_queries
    ):
        source = make_source(acme)
        body = {"amount": 2_500, "fundingSourceId": source.pk}
        switch = engage(SwitchKind.READ_ONLY, tenant_id=acme.pk)

        refused = acme_api.post_json("/api/v1/balance/topup", body, **{"Idempotency-Key": "k1"})

        assert refused.status_code == 503
        assert refused["Content-Type"] == "application/problem+json"
        assert refused.json()["code"] == "read_only"
        assert int(refused["Retry-After"]) > 0
        assert not FundingTransaction.objects.exists()
        assert acme_api.get("/api/v1/balance/summary").status_code == 200
        with django_assert_num_queries(2):
            acme_api.get("/api/v1/balance/summary")
        other = ApiClient(make_key(rival)).post_json("/api/v1/webhooks", {})
        assert other.status_code == 400

        release(switch)
        for _ in range(2):
            done = acme_api.post_json("/api/v1/balance/topup", body, **{"Idempotency-Key": "k1"})
            assert done.status_code == 201
        assert FundingTransaction.objects.count() == 1
