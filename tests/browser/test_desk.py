"""The desk's own pages, light and dark, wide and narrow: readable, silent, never too wide."""

from __future__ import annotations

import pytest
from django.contrib import admin
from playwright.sync_api import expect

from balance import services as ledger
from common.clock import utc_now
from funding.states import FundingStatus
from payments.models import Payment
from tenants.models import User
from tests.browser.conftest import DESK, PHONE, in_every_look
from tests.builders import (
    make_endpoint,
    make_funding,
    make_key,
    make_member,
    make_source,
    make_staff,
)
from tests.payments.builders import fund, pay
from tests.payments.builders import run_due as run_payments
from webhooks.models import WebhookDelivery, WebhookEvent

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]

# What can be read only by scrolling a part of the page sideways.
CUT_OFF = """[...document.querySelectorAll(".desk-scroll, .list-box, .inline-related")]
    .filter((part) => part.scrollWidth > part.clientWidth)
    .map((part) => `${part.className} is cut off`)"""
NOT_OURS = ("landmark-unique",)  # unfold names both of its scrolled parts alike


@pytest.fixture
def sam(transactional_db):
    return make_staff("sam@ballast.example")


@pytest.fixture
def busy(acme):
    now = utc_now()
    source = make_source(acme)
    for status in FundingStatus:
        make_funding(acme, source, status=status, amount=123_456_789, pending_at=now)
    make_funding(
        acme,
        source,
        status=FundingStatus.FAILED,
        returned=True,
        return_code="R10",
        returned_at=now,
        failed_at=now,
        pending_at=now,
    )
    fund(acme, 123_456_789_00)
    pay(acme, 99_999_999)
    make_endpoint(acme, url=f"https://hooks.example.com/{'path' * 30}")
    make_key(acme)
    somebody = make_member(acme, email=f"{'a' * 40}@{'b' * 40}.example")
    User.objects.filter(pk=somebody.pk).update(name="Wolfeschlegelsteinhausenbergerdorffsenior")
    run_payments()
    ledger.change_pending(tenant_id=acme.pk, delta=123_456_789)
    return acme


@in_every_look
def test_nothing_is_wrong_with_the_desk(visit, sam, busy, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    account = busy.fundingsource_set.get()
    wrong = {}
    for path in (
        "/admin/",
        f"/admin/desk/tenants/{busy.pk}/",
        f"/admin/desk/tenants/{busy.pk}/suspend/",
        f"/admin/desk/tenants/{busy.pk}/limits/",
        f"/admin/desk/tenants/{busy.pk}/view-as/",
        f"/admin/desk/account-numbers/{account.pk}/",
        "/admin/desk/ledger/",
        "/admin/desk/queues/",
        "/admin/funding/fundingtransaction/",
        f"/admin/desk/funding/{busy.fundingtransaction_set.first().pk}/",
        f"/admin/desk/payments/{Payment.objects.earliest('pk').pk}/",
        f"/admin/desk/events/{WebhookEvent.objects.latest('created_at').pk}/",
        f"/admin/desk/deliveries/{WebhookDelivery.objects.latest('created_at').pk}/",
        f"/admin/tenants/user/{busy.memberships.get().user_id}/change/",
        "/admin/tenants/auditevent/",
        "/admin/tenants/user/",
        "/admin/tenants/switch/",
        "/admin/tenants/switch/add/",
        "/admin/tenants/accessproposal/add/?kind=member",
    ):
        visitor.goto(path)
        barriers = [found for found in visitor.barriers() if not found.startswith(NOT_OURS)]
        found = [*barriers, *visitor.complaints]
        if (overflow := visitor.sideways_scroll()) > 0:
            found.append(f"{overflow} px too wide")
        found += visitor.page.evaluate(CUT_OFF)
        if found:
            wrong[path] = found
        visitor.complaints.clear()

    assert wrong == {}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", DESK), ("dark", PHONE)], ids=["desk", "phone"]
)
def test_nothing_is_wrong_with_any_list(visit, sam, busy, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    wrong = {}
    for model in admin.site._registry:
        path = f"/admin/{model._meta.label_lower.replace('.', '/')}/"
        visitor.goto(path)
        barriers = [found for found in visitor.barriers() if not found.startswith(NOT_OURS)]
        if found := [*barriers, *visitor.complaints, *([w] if (w := _too_wide(visitor)) else [])]:
            wrong[path] = found
        visitor.complaints.clear()

    assert wrong == {}


def _too_wide(visitor):
    return f"{wide} px too wide" if (wide := visitor.sideways_scroll()) > 0 else ""


def test_staff_hold_all_rows_of_a_list(visit, sam, busy):
    unsent = busy.fundingtransaction_set.filter(status=FundingStatus.RESERVED)
    visitor = visit(sam)
    visitor.goto("/admin/funding/fundingtransaction/?status__exact=reserved")

    visitor.page.get_by_label("Select all rows").check()
    visitor.page.get_by_text(f"{unsent.count()} of {unsent.count()} selected").wait_for()
    visitor.page.get_by_label("Select action to run").select_option("Hold for a look")
    visitor.page.get_by_role("button", name="Run").click()
    visitor.page.get_by_label("Reason").fill("Ticket 4711: a look")
    visitor.page.get_by_role("button", name="Hold for a look").click()

    expect(visitor.page.get_by_role("cell", name="On hold")).to_be_visible()
    assert all(row.held_at for row in unsent)
    assert visitor.complaints == []


def test_staff_look_as_a_tenant_and_come_back(visit, sam, busy):
    visitor = visit(sam)
    visitor.goto(f"/admin/desk/tenants/{busy.pk}/")

    visitor.page.get_by_role("link", name="View as tenant").click()
    visitor.page.get_by_label("Reason").fill("Ticket 4711: balance looks wrong")
    visitor.page.get_by_role("button", name="View as Acme").click()
    visitor.page.wait_for_url("**/dashboard/")
    expect(visitor.page.get_by_text("Staff view, read only.")).to_be_visible()

    visitor.page.get_by_role("button", name="End").click()
    visitor.page.wait_for_url(f"**/admin/desk/tenants/{busy.pk}/")
    assert visitor.complaints == []


def test_staff_suspend_with_a_reason(visit, sam, busy):
    visitor = visit(sam)
    visitor.goto(f"/admin/desk/tenants/{busy.pk}/")

    visitor.page.get_by_role("link", name="Suspend").click()
    visitor.page.get_by_label("Reason").fill("Returns over the level")
    visitor.page.get_by_role("button", name="Suspend Acme").click()

    visitor.page.get_by_text("Acme is suspended: nothing new starts, and what waits").wait_for()
    busy.refresh_from_db()
    assert busy.status == "suspended"
    assert visitor.complaints == []
