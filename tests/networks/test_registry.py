from __future__ import annotations

import pytest

from networks import registry
from networks.base import Method
from networks.sandbox.bank import SandboxBank
from tests.networks.one_more import OneMore


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


def test_the_first_connected_serves_a_method_that_two_have(connect):
    class Second(SandboxBank):
        name = "second"

    second = connect(Second(), modes=("sandbox", "live"))

    assert registry.for_method("sandbox", Method.ACH_DEBIT) is registry.get("sandbox")
    assert registry.for_method("live", Method.ACH_DEBIT) is second
    assert registry.modes_served_by({"second"}, Method.ACH_DEBIT) == ["live"]


def test_a_network_takes_the_place_of_another_one_of_its_name_until_that_is_undone():
    first, other = registry.get("sandbox"), SandboxBank()

    undo = registry.connect(other, modes=("sandbox",))
    connected = registry.for_method("sandbox", Method.ACH_DEBIT)
    undo()

    assert connected is other
    assert registry.for_method("sandbox", Method.ACH_DEBIT) is first
