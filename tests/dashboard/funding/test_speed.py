"""Same day, where people choose how money moves."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dashboard.funding.topup_form import new_token
from funding.models import FundingTransaction
from networks import registry
from networks.ach.network import AchNetwork
from tests.builders import make_source
from tests.dashboard.payments.test_pay import filled, make_recipient
from tests.networks.ach.builders import NOON, RAIL, make_originator, make_rail
from tests.payments.builders import fund

pytestmark = pytest.mark.django_db


@pytest.fixture
def bank(acme):
    """An account of Acme's, and a bank that settles up to $100.00 on the same day."""
    source = make_source(acme)
    make_rail(same_day_max=100_00)
    make_originator()
    undo = registry.connect(AchNetwork(RAIL), modes=["sandbox"])
    yield source
    undo()


@pytest.fixture
def at_noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def test_pages_offer_it_where_the_bank_does(acme, bank, dana_browser):
    content = dana_browser.get("/dashboard/topup/").content.decode()

    assert "ACH debit, same day" in content
    assert "at most $100.00" in content


def test_pages_do_not_offer_it_where_no_bank_does(acme, dana_browser):
    make_source(acme)
    assert "same day" not in dana_browser.get("/dashboard/topup/").content.decode()


def test_pages_ask_for_what_was_chosen(acme, bank, dana_browser):
    fields = {
        "acting_for": acme.pk,
        "amount": "12.34",
        "source": bank.pk,
        "method": "ach_debit+same_day",
        "token": new_token(tenant_id=acme.pk),
    }

    review = dana_browser.post("/dashboard/topup/", {**fields, "step": "review"})
    dana_browser.post("/dashboard/topup/", {**fields, "step": "confirm"})

    assert "ACH debit, same day" in review.content.decode()
    (row,) = FundingTransaction.objects.all()
    assert (row.method, row.speed) == ("ach_debit", "same_day")
    page = dana_browser.get(reverse("dashboard:funding_detail", args=[row.pk])).content.decode()
    assert "ACH debit, same day" in page


@pytest.mark.parametrize(("amount", "day"), [("100.00", 24), ("100.01", 25)])
def test_the_review_of_a_payment_promises_what_its_amount_can_keep(
    at_noon, acme, bank, dana_browser, amount, day
):
    recipient = make_recipient(acme)
    fund(acme, 500_00)
    form = filled(acme, recipient, amount=amount, method="ach_credit+same_day", step="review")

    review = dana_browser.post("/dashboard/pay/", form)

    assert f"November {day}, 2026" in review.content.decode()
