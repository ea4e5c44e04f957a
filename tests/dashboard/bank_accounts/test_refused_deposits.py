"""What the page of bank accounts says where micro-deposits proved nothing."""

from __future__ import annotations

import pytest

from funding.services import deposits
from tenants.models import Mode, Role
from tests.builders import NOW, make_member, make_source, make_tenant
from tests.funding.live_network import LiveNetwork, connected
from tests.networks.scripted import message

pytestmark = pytest.mark.django_db


@pytest.fixture
def globex():
    return make_tenant(name="Globex", mode=Mode.LIVE)


def shown(sign_in, tenant):
    browser = sign_in(make_member(tenant, email="ann@globex.example", role=Role.OWNER))
    return browser.get("/dashboard/bank-accounts").content.decode()


def test_names_why_a_deposit_came_back_and_what_to_do(globex, sign_in):
    with connected(LiveNetwork()) as live:
        make_source(globex)
        deposits.send_due(now=NOW)
        row = globex.fundingsource_set.get().verification.entries.first()
        live.events.append(message(row, "returned", network="live", code="R03"))
        deposits.process_due(now=NOW)

        content = shown(sign_in, globex)
    assert "A deposit was returned: No account found (R03)." in content
    assert "Remove" in content


def test_says_that_the_bank_did_not_take_them(globex, sign_in):
    with connected(LiveNetwork(refuses=("ach_credit",))):
        make_source(globex)
        deposits.process_due(now=NOW)

        content = shown(sign_in, globex)
    assert "The bank refused our deposits (R13)." in content
