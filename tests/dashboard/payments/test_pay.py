"""Paying from the dashboard: form, review, confirm."""

from __future__ import annotations

import re
import threading

import pytest
from django.db import connections

from common import ids
from common.clock import utc_now
from dashboard.shell import form_tokens
from networks.base import Method
from payments.methods import METHODS
from payments.models import Payment, PaymentConfirmation
from payments.services import approval_settings, cool_down_settings, recipients
from tenants.actors import SYSTEM
from tenants.models import Role, TenantStatus
from tests.builders import NOW, make_member, make_tenant
from tests.payments.builders import account, fund, funds_of, take
from transfers import route_changes

PATH = "/dashboard/pay/"


def make_recipient(tenant, number="000123456789", **fields):
    return recipients.save(
        tenant_id=tenant.pk, details=account(number), actor=SYSTEM, now=NOW, **fields
    )


@pytest.fixture
def supplier(acme):
    return make_recipient(acme)


@pytest.fixture
def money(acme):
    fund(acme, 100_000)


def new_token(tenant):
    return form_tokens.new(ids.new("pay"), purpose="payment", tenant_id=tenant.pk)


def filled(tenant, recipient, **fields):
    return {
        "acting_for": tenant.pk,
        "recipient": recipient.pk,
        "amount": "250.00",
        "method": "ach_credit",
        "description": "Invoice 7",
        "token": new_token(tenant),
        "step": "confirm",
        **fields,
    }


class TestForm:
    def test_shows_what_is_available_and_when_it_arrives(self, acme, supplier, money, dana_browser):
        content = dana_browser.get(PATH).content.decode()

        assert "$1,000.00 is available." in content
        assert "Supplier LLC, " in content
        assert "··6789" in content
        assert content.count("Expected ") == len(METHODS) + 1  # and the automatic choice

    def test_offers_what_is_chosen_beforehand_first_and_the_automatic_choice_last(
        self, acme, supplier, money, dana_browser
    ):
        method = dana_browser.get(PATH).context["form"]["method"]

        assert [name for name, _ in method.field.choices] == ["ach_credit", "rtp", "auto"]
        assert method.value() == "ach_credit"

    def test_offers_no_choice_where_there_is_one_method(self, acme, supplier, money, dana_browser):
        route_changes.close_route(
            mode="sandbox", method=Method.RTP_CREDIT, reason="down", actor=SYSTEM, now=NOW
        )

        offered = dana_browser.get(PATH).context["form"].fields["method"].choices

        assert [name for name, _ in offered] == ["ach_credit"]

    def test_pays_automatically(self, acme, supplier, money, dana_browser):
        form = filled(acme, supplier, method="auto")
        review = dana_browser.post(PATH, {**form, "step": "review"}).content.decode()
        dana_browser.post(PATH, form)

        assert "<dd>Automatic</dd>" in review
        assert "Within seconds of sending, or in banking days if it goes by ACH" in review
        assert Payment.objects.get().is_automatic

    def test_says_that_nothing_is_available_below_zero(self, acme, supplier, dana_browser):
        take(acme, 5_000)

        content = dana_browser.get(PATH).content.decode()

        assert "Nothing is available. The balance is $50.00 below zero." in content
        assert "The balance is below zero" in content
        assert "Payments that are ready are held back, and a new one can only wait" in content

    @pytest.mark.parametrize("taken", [0, 5_000])
    def test_expects_nothing_while_nothing_is_available(self, acme, supplier, dana_browser, taken):
        take(acme, taken) if taken else None

        asked = dana_browser.get(PATH).content.decode()
        review = dana_browser.post(PATH, filled(acme, supplier, step="review", wait="on"))

        assert "Expected " not in asked
        assert asked.count("After your balance covers it") == len(METHODS) + 1
        assert "<dd>After your balance covers it</dd>" in review.content.decode()

    def test_without_recipients_says_where_to_begin(self, dana_browser):
        content = dana_browser.get(PATH).content

        assert b"Who do you want to pay?" in content
        assert b"/dashboard/recipients/new?then=pay" in content

    def test_opens_with_the_recipient_just_added(self, acme, supplier, dana_browser):
        other = make_recipient(acme, "222222")

        content = dana_browser.get(f"{PATH}?recipient={other.pk}").content.decode()

        assert f'<option value="{other.pk}" selected>' in content

    def test_chooses_nobody_by_itself(self, acme, supplier, money, dana_browser):
        content = dana_browser.get(PATH).content.decode()
        first, second = re.findall(r"<option[^>]*>[^<]*", content)[:2]

        assert first == '<option value="" selected>Choose a recipient'
        assert second.startswith(f'<option value="{supplier.pk}">')
        assert re.search(r'<select[^>]*name="recipient"[^>]*required', content)

    @pytest.mark.parametrize("step", ["review", "confirm"])
    def test_pays_nobody_where_nobody_was_chosen(self, acme, supplier, money, dana_browser, step):
        form = {**filled(acme, supplier, step=step), "recipient": ""}

        for _ in range(2):
            response = dana_browser.post(PATH, form)

            assert response.status_code == 422
            assert b"Choose whom to pay." in response.content
        assert not Payment.objects.exists()

    def test_chooses_nobody_for_a_recipient_that_is_not_there(self, acme, supplier, dana_browser):
        content = dana_browser.get(f"{PATH}?recipient=rcp_nobody").content.decode()

        assert re.findall(r"<option[^>]*>", content)[0] == '<option value="">'
        assert not re.findall(r"<option[^>]*selected", content)

    def test_offers_the_first_by_name_and_the_chosen_one(self, monkeypatch, acme, dana_browser):
        monkeypatch.setattr("dashboard.recipients.choices.SHOWN_MAX", 2)
        names = ["Zebra", "Yak", "Ant", "Bee"]
        zebra, yak, ant, bee = (
            make_recipient(acme, str(number) * 6, nickname=name)
            for number, name in enumerate(names, start=1)
        )

        content = dana_browser.get(f"{PATH}?recipient={zebra.pk}").content.decode()

        offered = re.findall(r'<option value="(rcp_\w+)"', content)
        assert offered == [ant.pk, bee.pk, zebra.pk]
        assert "Recipients has all of them." in content
        assert dana_browser.post(PATH, filled(acme, yak, step="review")).status_code == 200
        assert dana_browser.get(f"{PATH}?recipient=rcp_%00").status_code == 200

    @pytest.mark.parametrize("text", ["", "0", "-5", "1.234", "ten"])
    def test_explains_an_impossible_amount_next_to_the_field(
        self, acme, supplier, dana_browser, text
    ):
        response = dana_browser.post(PATH, filled(acme, supplier, amount=text))

        assert response.status_code == 422
        assert b"id_amount_error" in response.content

    def test_offers_no_recipient_of_another_tenant_and_no_removed_one(
        self, acme, rival, supplier, money, dana_browser
    ):
        foreign = make_recipient(rival)
        recipients.remove(tenant_id=acme.pk, recipient_id=supplier.pk, actor=SYSTEM, now=NOW)

        for recipient in (foreign, supplier):
            assert dana_browser.post(PATH, filled(acme, recipient)).status_code == 422
        assert not Payment.objects.exists()


class TestReview:
    def test_names_everything_and_moves_nothing(self, acme, supplier, money, dana_browser):
        response = dana_browser.post(PATH, filled(acme, supplier, step="review"))

        content = response.content.decode()
        assert response.status_code == 200
        assert "Pay $250.00?" in content
        assert "which will then have $750.00 available" in content
        assert "Invoice 7" in content
        assert "second person" not in content
        assert not Payment.objects.exists()

    @pytest.mark.parametrize(
        ("wait", "says"), [("on", "waits its turn"), ("", 'amount=150.00">Add $150.00</a>')]
    )
    def test_says_what_a_short_balance_means(self, acme, supplier, dana_browser, wait, says):
        fund(acme, 10_000)

        response = dana_browser.post(PATH, filled(acme, supplier, step="review", wait=wait))

        assert "short by $150.00" in response.content.decode()
        assert says in response.content.decode()

    def test_proposes_to_pay_less_only_where_that_would_help(self, acme, supplier, dana_browser):
        form = filled(acme, supplier, step="review")
        nothing = dana_browser.post(PATH, form).content.decode()
        assert "Nothing is available. Add money, or change the payment to wait" in nothing
        assert "pay less" not in nothing

        fund(acme, 1)
        little = dana_browser.post(PATH, filled(acme, supplier, step="review")).content.decode()
        assert "$0.01 is available. Add the rest, pay less, or change the payment" in little

    def test_refuses_what_is_above_the_limit_before_asking_for_the_money(
        self, acme, supplier, dana_browser
    ):
        response = dana_browser.post(
            PATH, filled(acme, supplier, step="review", amount="1000000.01")
        )

        assert response.status_code == 422
        content = response.content.decode()
        assert "At most $1,000,000.00 per payment by ACH" in content
        assert "id_amount_error" in content
        assert re.search(r'<input[^>]*name="amount"[^>]*autofocus', content)

    def test_says_that_a_second_person_is_asked(self, acme, supplier, money, dana_browser):
        make_member(acme, email="checker@acme.example", role=Role.APPROVER)
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=NOW)
        make_member(acme, email="checker@acme.example", role=Role.APPROVER)

        response = dana_browser.post(PATH, filled(acme, supplier, step="review"))

        assert b"A second person must approve this payment" in response.content
        assert b", if approved now</dd>" in response.content

    def test_promises_nobody_to_an_owner_who_is_alone(self, acme, money, sign_in, dana_browser):
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=NOW)
        cool_down_settings.set_hours(tenant_id=acme.pk, hours=24, actor=SYSTEM, now=NOW)
        new = recipients.save(tenant_id=acme.pk, details=account(), actor=SYSTEM, now=utc_now())
        lee = sign_in(make_member(acme, email="lee@acme.example", role=Role.MEMBER))

        alone = dana_browser.post(PATH, filled(acme, new, step="review")).content
        other = lee.post(PATH, filled(acme, new, step="review")).content

        assert b"second person" not in alone
        assert b"This recipient is new" not in alone
        assert b"This recipient is new" in other

    def test_can_be_changed(self, acme, supplier, money, dana_browser):
        response = dana_browser.post(PATH, filled(acme, supplier, step="edit"))

        assert b'value="250.00"' in response.content


class TestConfirm:
    def test_pays_in_the_name_of_the_person(self, acme, dana, supplier, money, dana_browser):
        response = dana_browser.post(PATH, filled(acme, supplier))

        row = Payment.objects.get()
        assert response["Location"] == f"/dashboard/payments/{row.pk}"
        assert (row.amount, row.recipient, row.description) == (25_000, supplier, "Invoice 7")
        assert (row.created_by_type, row.created_by_id) == ("user", dana.pk)
        assert funds_of(acme) == (75_000, 25_000)
        said = dana_browser.get(response["Location"]).content.decode()
        assert (
            "You ordered a payment of $250.00 to Supplier LLC."
            " This page shows when it is sent and when it arrives."
        ) in said

    def test_of_the_same_form_twice_pays_once(self, acme, supplier, money, dana_browser):
        form = filled(acme, supplier)

        first = dana_browser.post(PATH, form)
        second = dana_browser.post(PATH, {**form, "amount": "300.00"})

        assert first["Location"] == second["Location"]
        assert Payment.objects.get().amount == 25_000
        said = dana_browser.get(second["Location"]).content.decode()
        assert (
            "You already sent this form. The payment of $250.00 to Supplier LLC was created once,"
            " and nothing else was."
        ) in said

    @pytest.mark.parametrize("token", ["", "made-up"])
    def test_with_a_foreign_token_asks_again(self, acme, supplier, money, dana_browser, token):
        response = dana_browser.post(PATH, filled(acme, supplier, token=token))

        assert response.status_code == 422
        assert b"This form has expired." in response.content
        assert not Payment.objects.exists()

    def test_short_of_money_is_refused_next_to_the_amount(self, acme, supplier, dana_browser):
        response = dana_browser.post(PATH, filled(acme, supplier))

        assert response.status_code == 422
        assert not Payment.objects.exists()

    def test_short_of_money_may_wait(self, acme, supplier, dana_browser):
        response = dana_browser.post(PATH, filled(acme, supplier, wait="on"), follow=True)

        assert Payment.objects.get().status == "waiting_for_funds"
        assert b"We send it when the balance covers it." in response.content

    def test_above_the_limit_asks_somebody_else(self, acme, supplier, money, dana_browser):
        make_member(acme, email="cfo@acme.example", role=Role.APPROVER)
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=NOW)

        response = dana_browser.post(PATH, filled(acme, supplier), follow=True)

        content = response.content.decode()
        assert "Needs approval" in content
        assert "Asked: cfo@acme.example." in content
        assert "We asked a second person to approve it. Nothing is sent until then." in content
        assert PaymentConfirmation.objects.get().approvers == ["cfo@acme.example"]

    def test_is_refused_while_the_tenant_is_suspended(self, acme, supplier, money, dana_browser):
        acme.status = TenantStatus.SUSPENDED
        acme.save(update_fields=["status"])

        assert dana_browser.post(PATH, filled(acme, supplier)).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_four_clicks_at_the_same_moment_pay_once(acme, dana, supplier, sign_in):
    fund(acme, 100_000)
    browsers = [sign_in(dana) for _ in range(4)]
    form, start = filled(acme, supplier), threading.Barrier(4)

    def click(browser):
        start.wait()
        browser.post(PATH, form)
        connections.close_all()

    threads = [threading.Thread(target=click, args=(browser,)) for browser in browsers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Payment.objects.count() == 1
    assert funds_of(acme) == (75_000, 25_000)


class TestWho:
    @pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
    def test_may_only_look_neither_sees_the_form_nor_sends_it(
        self, acme, supplier, money, sign_in, role
    ):
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

        assert browser.get(PATH).status_code == 403
        assert browser.post(PATH, filled(acme, supplier)).status_code == 403
        assert b"/dashboard/pay/" not in browser.get("/dashboard/payments").content
        assert not Payment.objects.exists()

    def test_has_switched_tenants_in_another_window_acts_on_none(
        self, acme, dana, supplier, money, dana_browser
    ):
        other = make_tenant(name="Zephyr")
        make_member(other, email=dana.email, role=Role.OWNER)
        dana_browser.post("/dashboard/tenant", {"tenant": other.pk})

        assert dana_browser.post(PATH, filled(acme, supplier)).status_code == 409
        assert not Payment.objects.exists()
