"""The page of one recipient."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils.html import escape

from common.clock import utc_now
from payments import recipient_history as history
from payments.models import Payment, PaymentConfirmation
from payments.recipient_history import Total
from payments.services import approval_settings, cool_down_settings, orders, recipients
from payments.states import PaymentStatus
from tenants import actors
from tenants.actors import SYSTEM
from tenants.models import Role, Tenant
from tests.builders import NOW, make_member
from tests.payments.builders import account, fund, run_due

PATH = "/dashboard/recipients"


@pytest.fixture
def supplier(acme, dana):
    return recipients.save(
        tenant_id=acme.pk,
        details=account("10003"),
        nickname="Paper mill",
        actor=actors.user(dana.pk),
        now=NOW,
    )


def ordered(recipient, amount=10_000, *, now=None):
    order = orders.Order(amount=amount, recipient=recipient.pk)
    tenant = Tenant.objects.get(pk=recipient.tenant_id)
    return orders.place(
        tenant_id=tenant.pk, mode=tenant.mode, order=order, actor=SYSTEM, now=now or utc_now()
    )


def completed(recipient, amount, at):
    """A completed payment of that moment. The way there is told elsewhere."""
    payment = ordered(recipient, amount, now=at)
    for status, column in (
        (PaymentStatus.PROCESSING, "processing_at"),
        (PaymentStatus.COMPLETED, "completed_at"),
    ):
        changes = {"status": status, column: at, "next_attempt_at": None}
        Payment.objects.filter(pk=payment.pk).update(**changes)
    return payment


def page(browser, recipient):
    return browser.get(f"{PATH}/{recipient.pk}").content.decode()


def rows(content, heading):
    """The cells of each row of the table below a heading."""
    table = content.split(f'id="{heading}"')[1].split("<tbody>")[1].split("</tbody>")[0]
    return [
        [cell.split(">", 1)[1].split("<")[0].strip() for cell in row.split("<td")[1:]]
        for row in table.split("<tr>")[1:]
    ]


def test_names_the_account_and_who_added_it_without_its_number(supplier, dana_browser):
    content = page(dana_browser, supplier)

    for shown in ("Supplier LLC", "··0003", "021000021", "Checking, business", "dana@acme.example"):
        assert shown in content
    assert supplier.account_number_token not in content
    assert f"{PATH}/{supplier.pk}/rename" in content
    assert f"/dashboard/pay/?recipient={supplier.pk}" in content


def test_says_that_nothing_was_paid_yet(supplier, dana_browser):
    content = page(dana_browser, supplier)

    assert rows(content, "totals") == [
        ["Last 30 days", "0", "$0.00"],
        ["This year", "0", "$0.00"],
        ["All time", "0", "$0.00"],
    ]
    assert "No payments yet" in content
    assert "Approvals</h2>" not in content


def test_adds_up_by_eastern_days(acme, supplier):
    """At half past midnight UTC of January 31 it is still the 30th in New York, whose thirty days
    began on January 1, with the year."""
    fund(acme, 1_000_000)
    midnight = datetime(2026, 1, 1, 5, tzinfo=UTC)
    completed(supplier, 100, midnight - timedelta(microseconds=1))
    completed(supplier, 2_000, midnight)
    completed(supplier, 30_000, datetime(2026, 1, 30, 20, tzinfo=UTC))

    early = history.totals(supplier, now=datetime(2026, 1, 31, 0, 30, tzinfo=UTC))
    late = history.totals(supplier, now=datetime(2026, 1, 31, 5, 0, tzinfo=UTC))

    assert (early.last_days, early.this_year) == (Total(2, 32_000), Total(2, 32_000))
    assert (late.last_days, late.this_year) == (Total(1, 30_000), Total(2, 32_000))
    assert (early.ever, early.underway) == (Total(3, 32_100), Total(0, 0))


def test_shows_what_is_underway_beside_what_was_paid(acme, supplier, dana_browser):
    fund(acme, 1_000_000)
    completed(supplier, 30_000, utc_now())
    ordered(supplier, 400_000)

    assert rows(page(dana_browser, supplier), "totals") == [
        ["Last 30 days", "1", "$300.00"],
        ["This year", "1", "$300.00"],
        ["All time", "1", "$300.00"],
        ["On the way or waiting", "1", "$4,000.00"],
    ]


def test_what_came_back_is_not_paid(acme, supplier, dana_browser):
    """The number of the account makes the sandbox return it."""
    fund(acme, 10_000)
    payment = ordered(supplier, now=NOW)
    run_due()
    run_due(now=NOW + timedelta(days=10))
    payment.refresh_from_db()
    assert payment.status in (PaymentStatus.FAILED, PaymentStatus.RETURNED)

    content = page(dana_browser, supplier)

    assert rows(content, "totals")[2:] == [
        ["All time", "0", "$0.00"],
        ["Failed or returned", "1", "$100.00"],
    ]
    assert f"/dashboard/payments/{payment.pk}" in content
    assert "R03" in content


def test_shows_the_last_ten_payments_and_leads_to_all(acme, supplier, dana_browser):
    fund(acme, 100_000)
    ids = [ordered(supplier, 100, now=NOW + timedelta(minutes=n)).pk for n in range(11)]

    content = page(dana_browser, supplier)

    assert [pk for pk in ids if f"/dashboard/payments/{pk}" in content] == ids[1:]
    assert f"/dashboard/payments?recipient={supplier.pk}" in content


def test_shows_who_was_asked_to_approve(acme, supplier, dana_browser):
    make_member(acme, email="ann@acme.example", role=Role.APPROVER)
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=NOW)
    fund(acme, 10_000)
    payment = ordered(supplier)

    content = page(dana_browser, supplier)

    approval = PaymentConfirmation.objects.get(payment=payment)
    assert f"/dashboard/approvals/{approval.pk}" in content
    assert "Payment of $100.00" in content


@pytest.mark.parametrize(
    ("number", "code", "what"),
    [("60001", "C01", "Account number"), ("60002", "C02", "Routing number")],
)
def test_says_what_its_bank_corrected(acme, dana_browser, number, code, what):
    """The sandbox bank corrects what the account number asks for."""
    noted = recipients.save(tenant_id=acme.pk, details=account(number), actor=SYSTEM, now=NOW)
    fund(acme, 10_000)
    ordered(noted, now=NOW)
    run_due()
    noted.refresh_from_db()
    assert noted.version == 2

    content = page(dana_browser, noted)

    assert f"{what} corrected" in content
    assert f"The recipient&#x27;s bank · {code}" in content
    assert number not in content
    assert noted.in_clear().account_number not in content
    moved = f"routing number 021000021 → {noted.routing_number}"
    assert (moved in content) is (code == "C02")


def test_tells_of_renaming(acme, dana, supplier, dana_browser):
    recipients.rename(
        tenant_id=acme.pk,
        recipient_id=supplier.pk,
        nickname="<Mill>",
        actor=actors.user(dana.pk),
        now=utc_now(),
    )

    assert f"Renamed to {escape('<Mill>')}" in page(dana_browser, supplier)


def test_a_removed_one_keeps_its_history_and_cannot_be_paid(acme, supplier, dana_browser):
    fund(acme, 10_000)
    payment = ordered(supplier)
    recipients.remove(tenant_id=acme.pk, recipient_id=supplier.pk, actor=SYSTEM, now=utc_now())

    content = page(dana_browser, supplier)

    assert "This recipient was removed" in content
    assert f"/dashboard/payments/{payment.pk}" in content
    for action in ("/rename", "/remove", "/dashboard/pay/?recipient="):
        assert action not in content
    filtered = dana_browser.get(f"/dashboard/payments?recipient={supplier.pk}")
    assert filtered.status_code == 200
    assert payment.pk in filtered.content.decode()


def test_says_until_when_a_second_person_approves(acme, supplier, dana_browser):
    make_member(acme, email="ann@acme.example", role=Role.APPROVER)
    cool_down_settings.set_hours(tenant_id=acme.pk, hours=24, actor=SYSTEM, now=NOW)
    added = recipients.save(
        tenant_id=acme.pk, details=account("20202"), actor=SYSTEM, now=utc_now()
    )

    assert "A second person must approve" in page(dana_browser, added)
    assert "A second person must approve" not in page(dana_browser, supplier)


def test_the_page_of_a_payment_leads_here(acme, supplier, dana_browser):
    fund(acme, 10_000)
    payment = ordered(supplier)

    content = dana_browser.get(f"/dashboard/payments/{payment.pk}").content.decode()

    assert f'href="{PATH}/{supplier.pk}"' in content


def test_counts_nothing_of_other_recipients_and_tenants(acme, rival, supplier, dana_browser):
    other = recipients.save(tenant_id=acme.pk, details=account("20202"), actor=SYSTEM, now=NOW)
    theirs = recipients.save(tenant_id=rival.pk, details=account("10003"), actor=SYSTEM, now=NOW)
    for tenant, to in ((acme, other), (rival, theirs)):
        fund(tenant, 10_000)
        completed(to, 10_000, utc_now())

    content = page(dana_browser, supplier)

    assert rows(content, "totals")[2] == ["All time", "0", "$0.00"]
    assert "No payments yet" in content
    assert dana_browser.get(f"{PATH}/{theirs.pk}").status_code == 404


@pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
def test_who_may_only_look_is_offered_no_action(acme, supplier, sign_in, role):
    browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

    content = page(browser, supplier)

    assert "Paper mill" in content
    for action in ("/rename", "/remove", "/dashboard/pay/?recipient="):
        assert action not in content
