"""A row's page, its amounts and buttons, reached as people reach it: by the link in the list."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest
from django.urls import reverse

from common.clock import utc_now
from funding.states import FundingStatus
from tenants.actors import SYSTEM
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import make_funding, make_source


@pytest.fixture
def funding(acme):
    return make_funding(acme, make_source(acme), status=FundingStatus.RESERVED)


@pytest.fixture
def switch(acme):
    return switches.engage(
        kind=SwitchKind.FUNDING, reason="Bank is down", actor=SYSTEM, now=utc_now()
    )


def opened_from(desk, model):
    """The page of the only row, by the link in the list."""
    path = reverse(f"admin:{model}_changelist")
    (address,) = re.findall(r'scope="row"[^>]*><a href="([^"]+)', desk.get(path).content.decode())
    return desk.get(urljoin(path, address)).content.decode()


def test_of_a_funding(desk, funding):
    address = f"/admin/funding/fundingtransaction/{funding.pk}/hold/"

    page = opened_from(desk, "funding_fundingtransaction")

    assert f'href="{address}' in page
    assert ("$250.00" in page, "25000" in page) == (True, False)
    assert desk.get(address).status_code == 200


def test_of_a_switch(desk, switch):
    address = f"/admin/tenants/switch/{switch.pk}/release/"

    assert f'href="{address}' in opened_from(desk, "tenants_switch")
    assert desk.get(address).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "funding/fundingtransaction/ftx_unknown/hold/",
        "payments/payment/pay_unknown/hold/",
        "balance/adjustmentproposal/adp_unknown/approve/",
        "network_inbox/inboundevent/999/resolve/",
        "tenants/switch/swi_unknown/release/",
    ],
)
def test_of_a_row_that_is_not_there(desk, address):
    assert desk.get(f"/admin/{address}").status_code == 404
