from __future__ import annotations

import pytest

from networks import registry
from networks.sandbox.bank import SandboxBank


def test_sandbox_tenants_get_the_sandbox_bank():
    assert isinstance(registry.for_mode("sandbox"), SandboxBank)


@pytest.mark.parametrize("mode", ["live", "", "SANDBOX"])
def test_nobody_else_ever_does(mode):
    assert registry.for_mode(mode) is None


def test_networks_are_found_by_name():
    assert registry.get("sandbox") is registry.for_mode("sandbox")
    with pytest.raises(KeyError):
        registry.get("nacha")


def test_all_networks_are_polled():
    assert [network.name for network in registry.active()] == ["sandbox"]
