"""The demo's visitor of the payer's bank, at the page of a running operator."""

from __future__ import annotations

import pytest

from demo.story.console import StoryError
from demo.story.payers_bank import PayersBank
from devstack.instant import client
from tests.devstack.instant.conftest import Operator, an_operator


@pytest.fixture
def operator():
    with an_operator() as running:
        yield running


@pytest.fixture
def bank(operator: Operator) -> PayersBank:
    return PayersBank(client.connection(operator.home)["page"])


def test_finds_what_was_asked_for_and_approves_it_once(operator, bank):
    assert bank.find("ANN LEE", "$123.45") is None
    operator.rtp.send(operator.rtp.request())
    request = bank.find("ANN LEE", "$123.45")

    assert bank.find("ANN LEE", "$9.99") is None
    assert bank.find("BOB RAY", "$123.45") is None
    assert "BALLAST asks for $123.45" in bank.read(request)
    assert "Approved, on its way" in bank.approve(request)

    (known,) = operator.ask("requests")
    assert known["status"] == "approved"
    assert bank.find("ANN LEE", "$123.45") is None
    with pytest.raises(StoryError, match="nothing to approve"):
        bank.approve(request)


def test_knows_what_the_bank_is_called(bank):
    assert bank.name == "Riverbank Online"
