"""While operators let nothing be changed, people read on and are told so."""

from __future__ import annotations

import pytest
from django.urls import reverse

from funding.models import FundingTransaction
from tenants.actors import SYSTEM
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import NOW, make_source

TOPUP = "dashboard:topup"


@pytest.fixture
def read_only(db):
    return switches.engage(kind=SwitchKind.READ_ONLY, reason="Look first", actor=SYSTEM, now=NOW)


def test_pages_open_and_say_so(dana_browser, read_only):
    page = dana_browser.get(reverse("dashboard:overview"))

    assert page.status_code == 200
    assert "Read-only for the moment" in page.content.decode()


def test_forms_are_answered_with_a_clear_page(acme, dana_browser, read_only):
    source = make_source(acme)
    body = {"acting_for": acme.pk, "amount": "25.00", "source": source.pk, "method": "ach_debit"}

    answer = dana_browser.post(reverse(TOPUP), body)

    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert "did not carry out what you sent" in answer.content.decode()
    assert not FundingTransaction.objects.exists()


def test_another_tenants_stop_is_not_shown(rival, dana_browser):
    switches.engage(
        kind=SwitchKind.READ_ONLY, reason="x", actor=SYSTEM, now=NOW, tenant_id=rival.pk
    )

    page = dana_browser.get(reverse("dashboard:overview"))

    assert "Read-only" not in page.content.decode()
