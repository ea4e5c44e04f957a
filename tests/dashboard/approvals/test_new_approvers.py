"""Whom pages name while a payment waits: who can approve now, and from when the others can."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.clock import utc_now
from dashboard.templatetags.ballast import moment
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tenants.models import Membership, Role
from tests.builders import make_member
from tests.payments.asking import approval_of, order
from tests.payments.builders import fund

OLD, NEW = "ann@acme.example", "nell@acme.example"


@pytest.fixture
def new_until():
    return utc_now() + timedelta(hours=5)


def approver(acme, email, approves_from=None):
    person = make_member(acme, email=email, role=Role.APPROVER)
    Membership.objects.filter(user=person).update(approves_from=approves_from)
    return person


def waiting_payment(acme):
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=utc_now())
    fund(acme, 10_000)
    return order(acme, 5_000, now=utc_now())


def pages_about(payment):
    """The pages that say who is asked."""
    return (
        "/dashboard/approvals",
        f"/dashboard/approvals/{approval_of(payment).pk}",
        f"/dashboard/payments/{payment.pk}",
    )


def test_who_is_new_is_named_with_the_moment(acme, sign_in, new_until):
    ann = approver(acme, OLD)
    approver(acme, NEW, new_until)
    payment = waiting_payment(acme)
    browser = sign_in(ann)

    for path in pages_about(payment):
        page = browser.get(path).content.decode()
        assert f"{OLD} can approve now, {NEW} from {moment(new_until)}." in page


def test_nobody_can_where_all_are_new(acme, sign_in, new_until):
    nell = approver(acme, NEW, new_until)
    payment = waiting_payment(acme)
    browser = sign_in(nell)

    for path in pages_about(payment):
        page = browser.get(path).content.decode()
        assert f"Nobody can approve yet: {NEW} can from {moment(new_until)}." in page


def test_who_is_new_no_more_is_asked_as_everybody(acme, sign_in):
    ann = approver(acme, OLD, utc_now() - timedelta(minutes=1))
    payment = waiting_payment(acme)

    page = sign_in(ann).get("/dashboard/approvals").content.decode()

    assert f"Asked: {OLD}." in page
    assert "can approve" not in page
    assert payment.awaits_confirmation
