"""A step of the sandbox, where a bank is connected as well."""

from __future__ import annotations

import pytest

from networks import registry
from networks.ach.network import AchNetwork
from tests.networks.ach.builders import RAIL, make_rail


@pytest.fixture
def _bank(db):
    make_rail()
    undo = registry.connect(AchNetwork(RAIL), modes=["live"])
    yield
    undo()


@pytest.mark.usefixtures("_bank")
def test_asks_the_bank_under_the_role_of_the_api(acme_api, log):
    answer = acme_api.post_json("/api/v1/sandbox/process-due")

    assert answer.status_code == 200
    assert log.of("network_not_read") == []
