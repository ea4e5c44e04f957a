"""The limits on money out, as people see, change and decide them."""

from __future__ import annotations

import re

import pytest

from common.clock import utc_now
from dashboard.bank_accounts.names import account_name
from networks.sandbox.bank import SandboxBank
from payments import caps
from payments.caps import Cap, CapScope, Window
from payments.models import PaymentSettings, Recipient
from payments.services import cool_down, limit_settings, limits, orders
from tenants.actors import SYSTEM, api_key, user
from tenants.models import Mode, OutgoingEmail, Role
from tenants.services import keys
from tests.balance.builders import fund
from tests.builders import make_member, make_tenant
from tests.payments.builders import account

PAGE = "/dashboard/payments/limits"
EDIT, COOL_DOWN, CHANGE = f"{PAGE}/edit", f"{PAGE}/cool-down", f"{PAGE}/change"
A_DAY = (CapScope.TENANT, Window.DAY)


@pytest.fixture
def acme(db, connect):
    connect(SandboxBank(), modes=("sandbox", "live"))
    return make_tenant(mode=Mode.LIVE)


@pytest.fixture
def checker(acme):
    return make_member(acme, email="checker@acme.example", role=Role.APPROVER)


@pytest.fixture
def own(acme, dana):
    """At most $1,000.00 a day, and nothing else is limited."""
    wanted = {**caps.NONE, A_DAY: Cap(100_000, 10)}
    limit_settings.change(tenant_id=acme.pk, wanted=wanted, actor=SYSTEM, now=utc_now())
    return acme


def read(browser, path=PAGE):
    """The words of the page, on one line."""
    text = re.sub(r"<[^>]*>", " ", browser.get(path).content.decode())
    return " ".join(text.split())


def order(tenant, amount, *, actor):
    orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=amount, recipient=account()),
        actor=actor,
        now=utc_now(),
    )


def send(browser, tenant, path, **fields):
    return browser.post(path, {"acting_for": tenant.pk, **fields})


def in_force(tenant):
    return limits.in_force(tenant_id=tenant.pk, mode=tenant.mode, now=utc_now())


def hours(tenant):
    row = PaymentSettings.objects.filter(tenant=tenant).first()
    return cool_down.hours(row, mode=tenant.mode, now=utc_now())


class TestPage:
    def test_shows_what_is_used_and_what_is_left(self, own, dana, dana_browser):
        fund(own, 100_000)
        made = keys.issue(tenant=own, name="Billing", actor=user(dana.pk), now=utc_now())
        order(own, 30_000, actor=user(dana.pk))
        order(own, 5_000, actor=api_key(made.key.pk))

        page = read(dana_browser)
        paid = Recipient.objects.filter(tenant=own)[0]
        bank = " ".join(account_name(paid).split())

        assert "All payments in any 24 hours $650.00 left More is available from" in page
        assert "$1,000.00 10 payments $350.00 2 payments $650.00" in page
        for line in (
            f"{paid.display_name}, {bank} To one recipient, 2 payments $350.00 in 24 hours",
            "API key Billing By one API key, 1 payment $50.00 in 24 hours",
            "dana@acme.example By one person, 2 payments $350.00 in 24 hours",
        ):
            assert line in page

    def test_of_another_tenant_shows_nothing_of_it(self, own, dana, rival, ravi, sign_in):
        fund(own, 100_000)
        order(own, 30_000, actor=user(dana.pk))

        page = read(sign_in(ravi))

        assert "Nothing was paid" in page
        assert "$300.00" not in page

    def test_says_when_a_second_person_is_asked(self, own, dana_browser, checker):
        page = read(dana_browser)

        assert "Larger payments Above $10,000.00" in page
        assert "New recipients For 24 hours" in page

    def test_says_to_who_is_alone_that_others_are_asked_about(self, own, dana_browser, sign_in):
        lee = make_member(own, email="lee@acme.example", role=Role.MEMBER)
        page, of_lee = read(dana_browser), read(sign_in(lee))

        assert "When you must approve You are the only approver" in page
        assert "When a second person must approve" not in page
        assert "When a second person must approve Larger payments Above $10,000.00" in of_lee

    @pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER, Role.APPROVER])
    def test_lets_owners_alone_change_it(self, own, sign_in, role):
        browser = sign_in(make_member(own, email=f"{role}@acme.example", role=role))

        assert "Change" not in read(browser)
        for path in (EDIT, COOL_DOWN):
            assert send(browser, own, path, hours="1").status_code == 403
        assert in_force(own)[A_DAY] == Cap(100_000, 10)


class TestLimits:
    def test_are_lowered_at_once(self, own, dana_browser, checker):
        fields = {"tenant_day_amount": "500.00", "recipient_month_payments": "20"}
        response = send(dana_browser, own, EDIT, tenant_day_payments="10", **fields)

        assert response["Location"] == PAGE
        assert in_force(own) == {
            **caps.NONE,
            A_DAY: Cap(50_000, 10),
            (CapScope.RECIPIENT, Window.MONTH): Cap(None, 20),
        }

    def test_that_are_raised_wait_for_a_second_person(self, own, dana_browser, checker, sign_in):
        response = send(dana_browser, own, EDIT, tenant_day_amount="2,000.00")
        assert response["Location"] == CHANGE

        mine, theirs = read(dana_browser, CHANGE), read(sign_in(checker), CHANGE)

        for page in (mine, theirs):
            assert "Money out in any 24 hours $2,000.00 instead of $1,000.00, 10 payments" in page
            assert "dana@acme.example" in page
        assert ("Withdraw" in mine, "Approve now" in mine) == (True, False)
        assert ("Refuse" in theirs, "Approve now" in theirs) == (True, True)
        assert "A change is waiting" in read(sign_in(checker))
        assert in_force(own)[A_DAY] == Cap(100_000, 10)

    @pytest.mark.parametrize(
        ("decision", "most"), [("agree", Cap(200_000)), ("refuse", Cap(100_000, 10))]
    )
    def test_are_decided_by_a_second_person(
        self, own, dana_browser, checker, sign_in, decision, most
    ):
        send(dana_browser, own, EDIT, tenant_day_amount="2,000.00")

        send(sign_in(checker), own, CHANGE, what="limits", decision=decision)

        assert in_force(own)[A_DAY] == most
        assert "No pending change" in read(dana_browser, CHANGE)

    def test_are_not_agreed_to_by_who_asked(self, own, dana_browser, checker):
        send(dana_browser, own, EDIT, tenant_day_amount="2,000.00")

        send(dana_browser, own, CHANGE, what="limits", decision="agree")

        assert "cannot agree to it" in read(dana_browser)
        assert in_force(own)[A_DAY] == Cap(100_000, 10)

    @pytest.mark.parametrize("typed", ["0", "-5", "ten", "1e3"])
    def test_that_are_no_amounts_are_refused(self, own, dana_browser, typed):
        assert send(dana_browser, own, EDIT, tenant_day_amount=typed).status_code == 422
        assert send(dana_browser, own, EDIT, tenant_day_payments=typed).status_code == 422

        assert in_force(own)[A_DAY] == Cap(100_000, 10)


class TestCoolDown:
    def test_is_made_longer_at_once(self, own, dana_browser, checker):
        assert send(dana_browser, own, COOL_DOWN, hours="48")["Location"] == PAGE

        assert hours(own) == 48

    def test_that_is_made_shorter_waits_for_a_second_person(
        self, own, dana_browser, checker, sign_in
    ):
        assert send(dana_browser, own, COOL_DOWN, hours="0")["Location"] == CHANGE
        assert "for 0 hours instead of 24 hours" in read(dana_browser, CHANGE)
        assert hours(own) == 24

        send(sign_in(checker), own, CHANGE, what="cool_down", decision="agree")

        assert hours(own) == 0

    @pytest.mark.parametrize("typed", ["", "-1", "721", "a day"])
    def test_that_is_no_time_is_refused(self, own, dana_browser, typed):
        assert send(dana_browser, own, COOL_DOWN, hours=typed).status_code == 422

        assert hours(own) == 24


def test_the_mail_leads_to_the_page_that_decides(own, dana_browser, checker):
    send(dana_browser, own, COOL_DOWN, hours="0")
    mail = OutgoingEmail.objects.filter(template="safeguard_waiting").earliest("pk")
    assert mail.context["about"] == "limits"
