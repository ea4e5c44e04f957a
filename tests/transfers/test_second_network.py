"""One more network for a tenant, with one more method: an entry in the table and its adapter."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from balance import invariants
from balance import selectors as ledger
from common.clock import utc_now
from funding.methods import METHODS
from funding.models import FundingTransaction
from networks.base import EventKind
from networks.sandbox.models import SandboxInstruction
from tenants.actors import SYSTEM
from tenants.models import Mode, Role
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import browser_of, make_key, make_member, make_source, make_tenant
from tests.funding.builders import run_due
from tests.networks import one_more
from tests.networks.one_more import OneMore
from transfers.inbox.models import InboundEvent

TOPUP = "/api/v1/balance/topup"
LIMITS = "/api/v1/balance/limits"
LIST = "/api/v1/funding/transactions"
USUAL = list(METHODS)


@pytest.fixture
def network(connect):
    remove = METHODS.add(one_more.METHOD)
    yield connect(OneMore())
    remove()


@pytest.fixture
def api(acme):
    """Not the client that compares answers with the document, which lists standard methods only."""
    return Client(headers={"Authorization": f"Bearer {make_key(acme)}"})


def ask(api, source, method, amount=25_000):
    body = {"amount": amount, "fundingSourceId": source.pk, "fundingMethod": method}
    return api.post(TOPUP, body, content_type="application/json")


def per_transaction(api):
    return api.get(LIMITS).json()["data"]["perTransaction"]


class TestTopUps:
    def test_go_over_the_network_of_their_method_to_completion(self, acme, api, network):
        source = make_source(acme)

        instant = ask(api, source, "one_more", 20_000).json()["data"]
        pulled = ask(api, source, "ach_debit", 10_000).json()["data"]
        run_due(now=utc_now())

        assert source.supported_methods == [*USUAL, "one_more"]
        assert [each.method for each in network.taken.values()] == [one_more.REQUEST]
        assert [each.external_id for each in SandboxInstruction.objects.all()] == [pulled["id"]]
        rows = FundingTransaction.objects.in_bulk([instant["id"], pulled["id"]])
        done = rows[instant["id"]]
        assert (done.status, done.network, done.method) == ("completed", "one_more", "one_more")
        assert done.pending_at is not None
        assert done.expected_availability_date == one_more.TERMS.expected_on(done.pending_at)
        assert rows[pulled["id"]].network == "sandbox"
        assert ledger.summary(acme.pk).available >= 20_000

    def test_leave_books_in_which_the_audit_finds_nothing(self, acme, api, network):
        ask(api, make_source(acme), "one_more")
        run_due(now=utc_now())

        assert invariants.check(now=utc_now(), full=True).findings == []

    def test_are_listed_by_their_method(self, acme, api, network):
        source = make_source(acme)
        found = ask(api, source, "one_more").json()["data"]["id"]
        ask(api, source, "ach_debit")

        listed = api.get(LIST, {"fundingMethod": "one_more"}).json()["data"]

        assert [row["id"] for row in listed] == [found]

    def test_are_shown_to_people_and_offered_in_the_form(self, acme, api, network):
        ask(api, make_source(acme), "one_more")
        browser = browser_of(make_member(acme, email="ann@example.com", role=Role.OWNER))

        assert ", One more request" in browser.get(reverse("dashboard:funding")).content.decode()
        assert "One more request" in browser.get(reverse("dashboard:topup")).content.decode()


class TestLimits:
    def test_are_those_of_the_network(self, acme, api, network):
        refused = ask(api, make_source(acme), "one_more", 500_001)

        assert per_transaction(api)["one_more"] == 500_000
        assert refused.status_code == 422
        assert refused.json()["code"] == "amount_above_limit"

    def test_are_not_told_to_tenants_without_it(self, db, network):
        other = make_tenant(name="Globex", mode=Mode.LIVE)
        api = Client(headers={"Authorization": f"Bearer {make_key(other)}"})

        assert per_transaction(api) == {}


class TestSwitches:
    def test_stop_one_of_the_networks_and_not_the_other(self, acme, api, network):
        source, now = make_source(acme), utc_now()
        switches.engage(
            kind=SwitchKind.FUNDING, network="one_more", reason="down", actor=SYSTEM, now=now
        )
        stopped = ask(api, source, "one_more").json()["data"]["id"]
        sent = ask(api, source, "ach_debit").json()["data"]["id"]

        run_due(now=utc_now())

        assert network.taken == {}
        assert FundingTransaction.objects.get(pk=stopped).status == "reserved"
        assert FundingTransaction.objects.get(pk=sent).status != "reserved"


class TestMessages:
    def test_of_one_network_move_nothing_of_the_other(self, acme, api, network):
        pulled = ask(api, make_source(acme), "ach_debit").json()["data"]["id"]
        run_due(now=utc_now())
        before = FundingTransaction.objects.get(pk=pulled)

        network.say(EventKind.RETURNED, about=before)
        run_due(now=utc_now())

        told = InboundEvent.objects.get(network="one_more")
        assert (told.outcome, told.note) == ("review", "another network's funding")
        assert not FundingTransaction.objects.get(pk=pulled).returned


def test_an_account_that_was_added_before_does_not_support_it(acme, api, connect):
    source = make_source(acme)
    connect(OneMore())
    remove = METHODS.add(one_more.METHOD)
    try:
        refused = ask(api, source, "one_more")
    finally:
        remove()

    assert refused.json()["code"] == "funding_method_not_supported"


def test_nobody_can_ask_for_a_method_that_is_not_in_the_table(acme, api, connect):
    connect(OneMore())

    assert ask(api, make_source(acme), "one_more").status_code in (400, 422)
    assert list(per_transaction(api)) == USUAL


def test_a_method_that_was_replaced_is_back_once_that_is_undone():
    usual, names = METHODS["rtp"], list(METHODS)

    undo = METHODS.add(replace(usual, words="another"))
    assert METHODS["rtp"].words == "another"
    undo()

    assert (METHODS["rtp"], list(METHODS)) == (usual, names)
