"""The list of payments, one payment with its timeline, and the approval limit."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from approvals import answers
from approvals.policies import Approver
from common.clock import utc_now
from payments.models import AUTO, Payment, PaymentConfirmation, PaymentMethod, PaymentSettings
from payments.services import approval_settings, orders, recipients
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM, user
from tenants.models import Role
from tenants.services import members
from tests.builders import NOW, make_member
from tests.payments.builders import account, fund, pay, run_due, take
from transfers import holds

PATH = "/dashboard/payments"
DAY = timedelta(days=1)


@pytest.fixture
def money(acme):
    fund(acme, 1_000_000)
    return acme


def page(browser, query=""):
    return browser.get(f"{PATH}{query}").content.decode()


def listed(browser, query=""):
    return set(re.findall(rf'href="{PATH}/(pay_\w+)"', page(browser, query)))


def detail(browser, payment):
    return browser.get(f"{PATH}/{payment.pk}").content.decode()


class TestList:
    def test_an_empty_list_says_how_to_begin(self, dana_browser):
        content = page(dana_browser)

        assert "No payments yet" in content
        assert "Pay somebody" in content
        assert "No approval is required." in content

    @pytest.mark.parametrize(
        ("number", "label"),
        [("000123456789", "Completed"), ("10003", "Returned"), ("20002", "Returned")],
    )
    def test_names_what_became_of_it(self, money, dana_browser, number, label):
        pay(money, 12_345, to=number)
        run_due()

        content = page(dana_browser)

        assert label in content
        assert "$123.45" in content
        assert "Supplier LLC" in content

    def test_names_what_waits_for_whom(self, money, dana_browser):
        pay(money, 5_000_000, wait=True)
        held = pay(money, 100)
        holds.hold(PAYMENTS, held.pk, reason="look", actor=SYSTEM, now=NOW)
        approval_settings.set_threshold(tenant_id=money.pk, threshold=0, actor=SYSTEM, now=NOW)
        pay(money, 100)

        content = page(dana_browser)

        for label in ("Waiting for money", "On hold", "Needs approval", "Above $0.00 you approve"):
            assert label in content

    def test_names_one_that_is_held_back_and_says_when_it_goes_on(self, acme, dana_browser):
        fund(acme, 12_345)
        payment = pay(acme, 12_345)
        take(acme, 1)
        run_due()

        assert "Held back" in page(dana_browser)
        shown = detail(dana_browser, payment)
        assert "Held back: the available balance is below zero" in shown
        assert "Add money" in shown
        assert "Expected" not in shown
        assert "Cancel $123.45" in shown

        fund(acme, 1)
        run_due()
        assert "Held back" not in detail(dana_browser, payment)

    def test_lists_all_that_is_short_of_money_and_nothing_else(self, acme, dana_browser):
        fund(acme, 300)
        held_back, on_hold = pay(acme, 100), pay(acme, 100)
        holds.hold(PAYMENTS, on_hold.pk, reason="look", actor=SYSTEM, now=NOW)
        waiting = pay(acme, 5_000, wait=True)
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=NOW)
        asked = pay(acme, 100)
        short = "?status=short"
        assert listed(dana_browser, short) == {waiting.pk}

        take(acme, 1)

        assert listed(dana_browser, short) == {held_back.pk, waiting.pk}
        assert listed(dana_browser) == {row.pk for row in (held_back, on_hold, waiting, asked)}

    def test_narrows_by_status_recipient_and_day(self, money, dana_browser):
        supplier = recipients.save(
            tenant_id=money.pk, details=account("222222"), actor=SYSTEM, now=NOW
        )
        pay(money, 111, now=NOW - 3 * DAY)
        run_due(now=NOW - 3 * DAY)
        orders.place(
            tenant_id=money.pk,
            mode=money.mode,
            order=orders.Order(amount=222, recipient=supplier.pk),
            actor=SYSTEM,
            now=NOW,
        )
        pay(money, 333, now=NOW + DAY)

        def amounts(query):
            found = dana_browser.get(f"{PATH}?{query}").context["lines"]
            return [line.amount for line in found]

        assert amounts("") == [333, 222, 111]
        assert amounts("status=completed") == [111]
        assert amounts("status=created") == [333, 222]
        assert amounts("status=approval") == []
        assert amounts(f"recipient={supplier.pk}") == [222]
        assert amounts("since=2026-11-20") == [333, 222]
        assert amounts("since=2026-11-20&until=2026-11-20") == [222]
        assert amounts("status=nonsense") == []
        assert amounts("since=nonsense") == []

    def test_says_when_a_search_finds_nothing(self, money, dana_browser):
        pay(money, 100)

        assert "No payments match." in page(dana_browser, "?status=returned")

    def test_pages_show_every_row_once_and_keep_the_search(self, money, dana_browser):
        for number in range(1, 31):
            pay(money, number * 100, now=NOW + timedelta(seconds=number // 3))

        first = dana_browser.get(f"{PATH}?status=created")
        older = first.context["page"].older
        second = dana_browser.get(f"{PATH}?status=created&before={older}")

        assert f"status=created&amp;before={older}" in first.content.decode()
        lines = [*first.context["lines"], *second.context["lines"]]
        assert sorted(line.amount for line in lines) == [n * 100 for n in range(1, 31)]

    def test_downloads_what_the_search_shows(self, money, dana_browser):
        pay(money, 100)
        run_due()
        pay(money, 200, to=account(holder_name="O'Neil & Sons"))

        response = dana_browser.get(f"{PATH}.csv?status=created")

        lines = b"".join(response.streaming_content).decode().splitlines()
        assert response["Content-Type"] == "text/csv; charset=utf-8"
        assert len(lines) == 2
        assert lines[0].startswith("id,createdAt,amount,currency,status,method,")
        assert ",200,USD,created,ach_credit," in lines[1]
        assert "000123456789" not in lines[1]

    def test_hides_other_tenants(self, rival, dana_browser):
        fund(rival, 100)
        foreign = pay(rival, 100)

        assert "No payments yet" in page(dana_browser)
        assert dana_browser.get(f"{PATH}?before={foreign.pk}").status_code == 404
        assert dana_browser.get(f"{PATH}/{foreign.pk}").status_code == 404
        assert len(b"".join(dana_browser.get(f"{PATH}.csv").streaming_content).splitlines()) == 1


def steps_of(browser, payment):
    return browser.get(f"{PATH}/{payment.pk}").context["payment"].steps


class TestDetail:
    def test_tells_who_did_what_and_why(self, money, dana, dana_browser):
        make_member(money, email="cfo@acme.example", role=Role.APPROVER)
        approval_settings.set_threshold(tenant_id=money.pk, threshold=0, actor=SYSTEM, now=NOW)
        payment = orders.place(
            tenant_id=money.pk,
            mode=money.mode,
            order=orders.Order(amount=5_000, recipient=account(), description="Invoice 7"),
            actor=user(dana.pk),
            now=NOW,
        )
        answers.approve_signed_in(
            tenant_id=money.pk,
            approval_id=PaymentConfirmation.objects.get().pk,
            by=Approver(email="cfo@acme.example", actor=user("usr_2")),
            typed_amount="50",
            now=NOW,
        )
        run_due()

        content = detail(dana_browser, payment)

        for fact in (
            "Money set aside",
            "dana@acme.example",
            "Approval requested from: cfo@acme.example",
            "Ordered by dana@acme.example for",
            "Approved",
            "Handed to the payment network",
            "Completed: the recipient",
            "Invoice 7",
        ):
            assert fact in content
        assert 'hx-trigger="every' not in content

    def test_refreshes_itself_until_the_end(self, money, dana_browser):
        payment = pay(money, 100)

        assert 'hx-trigger="every 5s"' in detail(dana_browser, payment)
        live = dana_browser.get(
            f"{PATH}/{payment.pk}", headers={"HX-Request": "true", "X-Tenant": money.pk}
        )
        assert b"<html" not in live.content

    @pytest.mark.parametrize(
        ("number", "method", "code"),
        [
            ("20002", PaymentMethod.ACH_CREDIT, "R02: Account closed"),
            ("10003", PaymentMethod.ACH_CREDIT, "R03: "),
            ("40004", PaymentMethod.RTP, "AC04: Account closed"),
        ],
    )
    def test_explains_what_came_back_in_plain_words(
        self, money, dana_browser, number, method, code
    ):
        payment = pay(money, 12_345, to=number, method=method)
        run_due()

        content = detail(dana_browser, payment)

        assert code in content
        assert "$123.45 is available again." in content
        assert "add them as a new recipient and pay again" in content

    def test_lists_the_ways_that_an_automatic_one_went(self, money, dana_browser):
        payment = pay(money, 12_345, to="51001", method=AUTO)
        first = detail(dana_browser, payment)
        run_due(rounds=8)

        content = detail(dana_browser, payment)

        assert "Automatic, by instant payment (RTP)" in first
        assert "<dd>RTP</dd>" in first
        assert "How it was sent" not in first
        assert "Automatic, by ACH transfer" in content
        assert "How it was sent" in content
        assert "NOAT: The bank takes no instant payment" in content
        assert "Refused as instant payment (RTP): sent another way" in content
        assert [step.what for step in steps_of(dana_browser, payment)] == [
            "Money set aside",
            "Handed to the payment network",
            "Refused as instant payment (RTP): sent another way",
            "Handed to the payment network",
            "Completed: the recipient's bank has the money",
        ]

    def test_says_what_it_waits_for(self, money, dana_browser):
        payment = pay(money, 5_000_000, wait=True)

        content = detail(dana_browser, payment)

        assert "Waiting for money" in content
        assert "every payment ahead of it" in content

    def test_says_that_staff_hold_it_but_not_why(self, money, dana_browser):
        payment = pay(money, 100)
        holds.hold(PAYMENTS, payment.pk, reason="smells of fraud", actor=SYSTEM, now=NOW)

        content = detail(dana_browser, payment)

        assert "Our staff are reviewing this payment" in content
        assert "smells of fraud" not in content

    def test_cancels_once(self, money, dana_browser):
        payment = pay(money, 100)
        path = f"{PATH}/{payment.pk}/cancel"

        dana_browser.post(path, {"acting_for": money.pk})
        assert Payment.objects.get().status == "canceled"
        again = dana_browser.post(path, {"acting_for": money.pk}, follow=True)

        assert b"cannot be canceled" in again.content

    def test_a_viewer_cannot_cancel(self, money, sign_in):
        payment = pay(money, 100)
        browser = sign_in(make_member(money, email="vera@acme.example", role=Role.VIEWER))

        assert "/cancel" not in detail(browser, payment)
        path = f"{PATH}/{payment.pk}/cancel"
        assert browser.post(path, {"acting_for": money.pk}).status_code == 403


def test_who_decides_now_is_named_and_not_who_was_asked(acme, dana, dana_browser):
    """Found: the page named approvers who had been removed."""
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=1, actor=SYSTEM, now=utc_now())
    old = make_member(acme, email="old@acme.example", role=Role.APPROVER)
    paid = orders.place(
        tenant_id=acme.pk,
        mode=acme.mode,
        order=orders.Order(amount=5_000, recipient=account(), wait_for_funds=True),
        actor=user(dana.pk),
        now=utc_now(),
    )
    make_member(acme, email="fresh@acme.example", role=Role.APPROVER)
    members.remove(
        tenant_id=acme.pk,
        membership_id=old.memberships.get().pk,
        actor=user(dana.pk),
        now=utc_now(),
    )

    page = dana_browser.get(f"/dashboard/payments/{paid.pk}").content.decode()

    assert "Asked: fresh@acme.example." in page
    assert "Asked: old@acme.example." not in page


class TestApprovalLimit:
    PATH = "/dashboard/payments/approval"

    def save(self, browser, tenant, text):
        return browser.post(self.PATH, {"acting_for": tenant.pk, "threshold": text})

    def test_is_set_changed_and_cleared_by_an_owner(self, acme, dana, dana_browser):
        for text, cents in [("1,000", 100_000), ("0", 0), ("", None)]:
            response = self.save(dana_browser, acme, text)

            assert response["Location"] == PATH
            assert PaymentSettings.objects.get().approval_threshold == cents

    def test_shows_what_it_is(self, acme, dana_browser):
        self.save(dana_browser, acme, "1,000")

        content = dana_browser.get(self.PATH).content.decode()

        assert 'value="1,000.00"' in content
        assert "dana@acme.example" in content
        assert "Your team has only one approver so far" in content

    def test_refuses_what_is_no_amount(self, acme, dana_browser):
        assert self.save(dana_browser, acme, "much").status_code == 422
        assert not PaymentSettings.objects.exists()

    @pytest.mark.parametrize("role", [Role.MEMBER, Role.APPROVER, Role.VIEWER])
    def test_is_for_owners_only(self, acme, sign_in, role):
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

        assert browser.get(self.PATH).status_code == 403
        assert self.save(browser, acme, "5").status_code == 403
        assert self.PATH not in page(browser)
