from __future__ import annotations

import time

import pytest
from django.db import transaction

from networks import registry
from networks.base import Method
from networks.rails.known import knowledge
from networks.rails.models import Rail, RailKind, Route
from networks.sandbox.bank import SandboxBank
from tests.builders import NOW
from tests.networks.one_more import OneMore

pytestmark = pytest.mark.django_db


class Second(SandboxBank):
    name = "second"


def rail(name="bank", kind=RailKind.REAL, driver="sandbox"):
    return Rail.objects.create(name=name, kind=kind, driver=driver, created_at=NOW)


def route(to, *, mode="live", method=Method.ACH_DEBIT, **terms):
    return Route.objects.create(
        mode=mode, method=method, rail=to, rail_kind=to.kind, changed_at=NOW, **terms
    )


@pytest.mark.parametrize("method", Method)
def test_sandbox_tenants_get_the_sandbox_bank(method):
    assert isinstance(registry.for_method("sandbox", method), SandboxBank)


@pytest.mark.parametrize("mode", ["live", "", "SANDBOX"])
def test_nobody_else_ever_does(mode):
    assert registry.for_method(mode, Method.ACH_DEBIT) is None
    assert registry.of_mode(mode) == []


def test_networks_are_found_by_name():
    assert registry.get("sandbox") is registry.for_method("sandbox", Method.ACH_DEBIT)
    with pytest.raises(KeyError):
        registry.get("nacha")


def test_all_networks_are_polled(connect):
    before = registry.active()

    added = connect(OneMore())

    assert registry.get("sandbox") in before
    assert registry.active() == [*before, added]


def test_what_is_connected_comes_before_routes_and_the_first_of_it_serves(connect):
    class Third(SandboxBank):
        name = "third"

    before = registry.for_method("sandbox", Method.ACH_DEBIT)
    second = connect(Second(), modes=("sandbox", "live"))
    third = connect(Third(), modes=("sandbox",))

    assert registry.for_method("sandbox", Method.ACH_DEBIT) is second
    assert registry.for_method("live", Method.ACH_DEBIT) is second
    assert registry.modes_served_by({"second"}, Method.ACH_DEBIT) == ["live", "sandbox"]
    assert registry.of_mode("sandbox") == [second, third, before, registry.get("sandbox_rtp")]


def test_a_network_takes_the_place_of_another_one_of_its_name_until_that_is_undone():
    first, other = registry.get("sandbox"), SandboxBank()

    undo = registry.connect(other, modes=("sandbox",))
    connected = registry.for_method("sandbox", Method.ACH_DEBIT)
    undo()

    assert connected is other
    assert registry.for_method("sandbox", Method.ACH_DEBIT) is first


class TestRoutes:
    def test_lead_to_the_rail_of_their_method(self):
        route(rail())
        route(rail("fast"), method=Method.RTP_REQUEST)

        debits = registry.for_method("live", Method.ACH_DEBIT)
        asks = registry.for_method("live", Method.RTP_REQUEST)

        assert (debits, asks) == (registry.get("bank"), registry.get("fast"))
        assert registry.for_method("live", Method.ACH_CREDIT) is None
        assert registry.of_mode("live") == [debits, asks]
        assert registry.modes_served_by({"bank"}, Method.ACH_DEBIT) == ["live"]
        assert registry.get("bank").name == "bank"

    def test_that_are_closed_lead_nowhere_and_their_rail_is_still_read(self):
        leads = route(rail())
        bank = registry.get("bank")

        leads.is_open = False
        leads.save(update_fields=["is_open"])

        assert registry.for_method("live", Method.ACH_DEBIT) is None
        assert registry.of_mode("live") == []
        assert registry.modes_served_by({"bank"}, Method.ACH_DEBIT) == []
        assert registry.get("bank") is bank
        assert bank in registry.active()

    @pytest.mark.parametrize("allowed", [False, True])
    def test_for_development_need_the_setting(self, settings, allowed):
        settings.DEVELOPMENT_ROUTES = allowed
        route(rail(kind=RailKind.STAND_IN), development=True)

        found = registry.for_method("live", Method.ACH_DEBIT)

        assert (found is not None) is allowed

    def test_to_a_rail_that_nothing_here_speaks_to_lead_nowhere(self):
        route(rail(driver="elsewhere"))

        assert registry.for_method("live", Method.ACH_DEBIT) is None
        assert registry.find("bank") is None
        assert "bank" not in [network.name for network in registry.active()]


class TestWhatAProcessKnows:
    def test_costs_no_query(self, django_assert_num_queries):
        with django_assert_num_queries(0):
            registry.for_method("sandbox", Method.ACH_DEBIT)
            registry.of_mode("live")
            registry.active()

    def test_is_read_again_after_some_seconds_in_one_query(
        self, settings, monkeypatch, django_assert_num_queries
    ):
        settings.ROUTES_KNOWN_SECONDS = 3
        read_at = knowledge.current().read_at
        Route.objects.filter(method=Method.ACH_DEBIT).update(is_open=False)  # by another process

        monkeypatch.setattr(time, "monotonic", lambda: read_at + 2.9)
        assert registry.for_method("sandbox", Method.ACH_DEBIT)
        monkeypatch.setattr(time, "monotonic", lambda: read_at + 3.1)
        with django_assert_num_queries(1):
            assert registry.for_method("sandbox", Method.ACH_DEBIT) is None

    def test_is_read_again_after_a_change_of_its_own(self):
        leads = Route.objects.get(method=Method.ACH_DEBIT)
        leads.is_open = False
        leads.save(update_fields=["is_open"])

        assert registry.for_method("sandbox", Method.ACH_DEBIT) is None

    def test_is_read_again_by_whoever_asks_for_it(self):
        Route.objects.filter(method=Method.ACH_DEBIT).update(is_open=False)
        assert registry.for_method("sandbox", Method.ACH_DEBIT)

        registry.look_again()

        assert registry.for_method("sandbox", Method.ACH_DEBIT) is None


@pytest.mark.django_db(transaction=True)
def test_a_change_is_known_to_others_of_the_process_once_it_is_committed():
    leads = Route.objects.get(method=Method.ACH_DEBIT)
    try:
        with transaction.atomic():
            leads.is_open = False
            leads.save(update_fields=["is_open"])
            knowledge._known = None
            unseen = knowledge.current()  # as another thread would have read it just before
        assert knowledge.current() is not unseen
        assert registry.for_method("sandbox", Method.ACH_DEBIT) is None
    finally:
        leads.is_open = True
        leads.save(update_fields=["is_open"])
