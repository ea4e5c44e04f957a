"""What an approver is told where a payment would not be sent once it is approved."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tenants.models import Role
from tests.builders import make_member
from tests.payments.asking import CHECKER, approval_of, order, token_of
from tests.payments.builders import fund, run_due, take

BELOW = "The available balance is below zero, so nothing is sent."
HELD_BACK = "it is held back, and we send it once the available balance is no longer below zero."


@pytest.fixture
def checker(acme, sign_in):
    return sign_in(make_member(acme, email=CHECKER, role=Role.APPROVER))


@pytest.fixture
def rule(acme, checker):
    """Somebody else approves every payment of acme, which has $100.00."""
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=utc_now())
    fund(acme, 10_000)
    return acme


@pytest.fixture
def payment(rule):
    """$50.00 wait for the checker."""
    return order(rule, 5_000, now=utc_now())


def by_link(payment):
    return f"/confirm/{token_of(payment, CHECKER)}/"


def signed_in(payment):
    return f"/dashboard/approvals/{approval_of(payment).pk}"


def test_a_held_back_payment_is_called_so_before_and_after(rule, payment, client, checker):
    take(rule, 5_001)
    link = by_link(payment)
    for asked in (client.get(link), checker.get(signed_in(payment))):
        assert f"{BELOW} Once approved, {HELD_BACK}" in asked.content.decode()

    client.post(link, {"decision": "approve", "typed_amount": "50.00"})
    run_due(now=utc_now())

    for told in (client.get(link), checker.get(signed_in(payment))):
        content = told.content.decode()
        assert f"{BELOW} It is held back" in content
        assert "will be sent" not in content
    payment.refresh_from_db()
    assert (payment.status, payment.held_back_at is None) == ("created", False)


def test_one_that_waits_for_money_is_called_so(rule, client, checker):
    waiting = order(rule, 20_000, wait=True, now=utc_now())

    for page in (client.get(by_link(waiting)), checker.get(signed_in(waiting))):
        content = page.content.decode()
        assert "Once approved, it waits until the balance covers it." in content


def test_nothing_is_said_where_nothing_is_in_its_way(rule, payment, client, checker):
    for page in (client.get(by_link(payment)), checker.get(signed_in(payment))):
        assert "Once approved" not in page.content.decode()

    link = by_link(payment)
    client.post(link, {"decision": "approve", "typed_amount": "50.00"})
    assert "The payment will be sent." in client.get(link).content.decode()


def test_nothing_is_said_of_what_was_declined(rule, payment, client, checker):
    take(rule, 5_001)
    checker.post(
        signed_in(payment),
        {"acting_for": rule.pk, "decision": "decline", "reason": "Not this one"},
    )

    assert BELOW not in checker.get(signed_in(payment)).content.decode()
