from __future__ import annotations

import threading
from datetime import UTC, date, datetime

import pytest
from django.db import connections
from django.test import Client

from common.clock import utc_now
from dashboard.funding.methods import method_choices
from dashboard.funding.topup_form import new_token
from funding.models import FundingLimit, FundingTransaction
from funding.services import limits
from funding.states import FundingStatus
from networks import registry
from networks.ach.network import AchNetwork
from tenants.models import Mode, Role, TenantStatus
from tests.builders import (
    make_auto_funding,
    make_funding,
    make_member,
    make_source,
    make_tenant,
)
from tests.funding.builders import top_up
from tests.networks.ach.builders import RAIL, make_rail

PATH = "/dashboard/topup/"


@pytest.fixture
def source(acme):
    return make_source(acme)


def test_begins_with_the_amount_of_the_address(source, dana_browser):
    content = dana_browser.get(f"{PATH}?amount=150.00").content.decode()

    assert 'name="amount" value="150.00"' in content


def filled(tenant, source, **fields):
    return {
        "acting_for": tenant.pk,
        "amount": "250.00",
        "source": source.pk,
        "method": "ach_debit",
        "token": new_token(tenant_id=tenant.pk),
        "step": "confirm",
        **fields,
    }


class TestForm:
    def test_shows_the_bounds_and_what_each_method_means(self, source, dana_browser):
        content = dana_browser.get(PATH).content.decode()

        assert "You can add from $0.01 to $" in content
        assert "We debit the account." in content
        assert "approve at your bank" in content
        assert "··6789" in content

    def test_offers_a_live_tenant_what_its_bank_does(self, db):
        def offered():
            found = method_choices(limits.of(live.pk), mode=live.mode, now=utc_now())
            return [str(name) for name, _ in found]

        live = make_tenant(name="Globex", mode=Mode.LIVE)
        make_rail()
        assert offered() == ["ach_debit", "rtp"]

        disconnect = registry.connect(AchNetwork(RAIL), modes=["live"])
        try:
            assert offered() == ["ach_debit"]
        finally:
            disconnect()

    def test_without_a_bank_account_says_where_to_begin(self, dana_browser):
        assert b"No bank account to add money from" in dana_browser.get(PATH).content

    @pytest.mark.parametrize("text", ["", "0", "-5", "1.234", "ten", "9" * 20])
    def test_explains_an_impossible_amount_next_to_the_field(
        self, acme, source, dana_browser, text
    ):
        response = dana_browser.post(PATH, filled(acme, source, amount=text))

        assert response.status_code == 422
        assert b"id_amount_error" in response.content
        assert not FundingTransaction.objects.exists()

    def test_an_amount_above_the_limit_is_refused_next_to_the_field(
        self, acme, source, dana_browser
    ):
        response = dana_browser.post(PATH, filled(acme, source, amount="999999999.00"))

        assert response.status_code == 422
        assert b"per transaction" in response.content
        assert b"id_amount_error" in response.content

    def test_offers_no_account_of_another_tenant(self, acme, rival, dana_browser):
        foreign = make_source(rival)

        response = dana_browser.post(PATH, filled(acme, foreign))

        assert response.status_code == 422
        assert not FundingTransaction.objects.exists()


class TestCheck:
    """What is said below the amount while it is typed."""

    def said(self, browser, tenant, source, **fields):
        response = browser.post(f"{PATH}check", filled(tenant, source, **fields))
        assert response.status_code == 200
        return response.content.decode()

    def test_names_the_banking_day_and_the_bounds(self, acme, source, dana_browser):
        said = self.said(dana_browser, acme, source, amount="250")

        assert "$250.00 is expected on" in said
        assert "a banking day." in said
        assert "<html" not in said

    def test_names_what_is_left_of_the_limits(self, acme, source, dana_browser):
        FundingLimit.objects.create(tenant=acme, daily_max=50_000, monthly_max=90_000)
        top_up(acme, source=source, amount=20_000, now=utc_now())

        said = self.said(dana_browser, acme, source, amount="")

        assert "You have $300.00 left today. You have $700.00 left this month." in said

    def test_says_why_an_amount_will_be_refused(self, acme, source, dana_browser):
        FundingLimit.objects.create(tenant=acme, daily_max=50_000)

        said = self.said(dana_browser, acme, source, amount="500.01")

        assert "At most $500.00 a day. $0.00 was asked for today, so $500.00 is left." in said

    def test_keeps_names_of_the_api_out_of_a_refusal(self, acme, source, dana_browser):
        response = dana_browser.post(PATH, filled(acme, source, amount="1000000.01"))

        assert response.status_code == 422
        said = response.content.decode()
        assert ">At most $1,000,000.00 per transaction by ACH debit.<" in said

    def test_goes_by_the_method(self, acme, source, dana_browser):
        FundingLimit.objects.create(tenant=acme, rtp_transaction_max=7_000)

        assert "You can add from $0.01 to $70.00 at a time." in self.said(
            dana_browser, acme, source, amount="", method="rtp"
        )

    def test_says_that_no_date_is_needed_where_money_comes_at_once(
        self, acme, source, dana_browser
    ):
        said = self.said(dana_browser, acme, source, amount="250", method="rtp")

        assert (
            "$250.00 arrives <strong>within seconds of the approval at the bank</strong>." in said
        )
        assert "a banking day" not in said

    def test_says_who_will_be_asked(self, acme, source, dana_browser):
        make_auto_funding(
            acme,
            enabled=False,
            confirm_topups=True,
            confirmation_threshold=10_000,
            confirmation_emails=["ann@acme.test"],
        )

        assert "ann@acme.test must approve it first." in self.said(
            dana_browser, acme, source, amount="100.01"
        )
        assert "approval" not in self.said(dana_browser, acme, source, amount="100")

    @pytest.mark.parametrize("amount", ["1.2", "ten"])
    def test_says_how_to_type_an_amount(self, acme, source, dana_browser, amount):
        assert "Enter an amount in dollars" in self.said(dana_browser, acme, source, amount=amount)


class TestReview:
    def test_is_not_reached_over_a_limit(self, acme, source, dana_browser):
        FundingLimit.objects.create(tenant=acme, daily_max=50_000)

        response = dana_browser.post(PATH, filled(acme, source, step="review", amount="500.01"))

        assert response.status_code == 422
        assert b"id_amount_error" in response.content

    def test_says_who_will_be_asked(self, acme, source, dana_browser):
        make_auto_funding(
            acme,
            enabled=False,
            confirm_topups=True,
            confirmation_threshold=100,
            confirmation_emails=["ann@acme.test"],
        )

        response = dana_browser.post(PATH, filled(acme, source, step="review"))

        assert b"ann@acme.test must approve it first" in response.content

    def test_names_everything_and_moves_nothing(self, acme, source, dana_browser):
        response = dana_browser.post(PATH, filled(acme, source, step="review"))

        assert response.status_code == 200
        assert b"Add $250.00?" in response.content
        assert not FundingTransaction.objects.exists()

    def test_can_be_changed(self, acme, source, dana_browser):
        response = dana_browser.post(PATH, filled(acme, source, step="edit"))

        assert b'value="250.00"' in response.content


class TestConfirm:
    def test_starts_the_funding_in_the_name_of_the_person(self, acme, dana, source, dana_browser):
        response = dana_browser.post(PATH, filled(acme, source))

        row = FundingTransaction.objects.get()
        assert response["Location"] == f"/dashboard/funding/{row.pk}"
        assert (row.tenant_id, row.amount, row.source_id) == (acme.pk, 25_000, source.pk)
        assert (row.created_by_type, row.created_by_id) == ("user", dana.pk)

    def test_of_the_same_form_twice_starts_one_funding(self, acme, source, dana_browser):
        form = filled(acme, source)

        first = dana_browser.post(PATH, form)
        second = dana_browser.post(PATH, {**form, "amount": "300.00"})

        assert first["Location"] == second["Location"]
        assert FundingTransaction.objects.get().amount == 25_000

    @pytest.mark.parametrize("token", ["", "made-up"])
    def test_with_a_foreign_token_asks_again_with_a_new_one(
        self, acme, source, dana_browser, token
    ):
        response = dana_browser.post(PATH, filled(acme, source, token=token))

        assert response.status_code == 422
        assert b"This form has expired." in response.content
        assert not FundingTransaction.objects.exists()

    def test_with_the_token_of_another_tenant_starts_nothing(
        self, acme, rival, source, dana_browser
    ):
        token = new_token(tenant_id=rival.pk)

        response = dana_browser.post(PATH, filled(acme, source, token=token))

        assert response.status_code == 422
        assert not FundingTransaction.objects.exists()

    def test_needs_a_csrf_token(self, acme, source, dana_browser):
        strict = Client(enforce_csrf_checks=True)
        strict.cookies = dana_browser.cookies

        assert strict.post(PATH, filled(acme, source)).status_code == 403

    def test_is_refused_while_the_tenant_is_suspended(self, acme, source, dana_browser):
        acme.status = TenantStatus.SUSPENDED
        acme.save(update_fields=["status"])

        assert dana_browser.post(PATH, filled(acme, source)).status_code == 403
        assert not FundingTransaction.objects.exists()


@pytest.mark.django_db(transaction=True)
class TestDoubleClick:
    def test_at_the_same_moment_starts_one_funding(self, acme, dana, source, sign_in):
        browsers = [sign_in(dana) for _ in range(4)]
        form, start = filled(acme, source), threading.Barrier(4)

        def click(browser):
            start.wait()
            browser.post(PATH, form)
            connections.close_all()

        threads = [threading.Thread(target=click, args=(browser,)) for browser in browsers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert FundingTransaction.objects.count() == 1


class TestWho:
    @pytest.mark.parametrize("role", [Role.APPROVER, Role.VIEWER])
    def test_may_only_look_neither_sees_the_form_nor_sends_it(self, acme, source, sign_in, role):
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

        assert browser.get(PATH).status_code == 403
        assert browser.post(PATH, filled(acme, source)).status_code == 403
        assert b"Add money" not in browser.get("/dashboard/funding").content
        assert not FundingTransaction.objects.exists()

    def test_is_a_member_may(self, acme, source, sign_in):
        browser = sign_in(make_member(acme, email="mia@acme.example", role=Role.MEMBER))

        assert browser.post(PATH, filled(acme, source)).status_code == 302

    def test_has_switched_tenants_in_another_window_acts_on_none(
        self, acme, dana, source, dana_browser
    ):
        other = make_tenant(name="Zephyr")
        make_member(other, email=dana.email, role=Role.OWNER)
        dana_browser.post("/dashboard/tenant", {"tenant": other.pk})

        response = dana_browser.post(PATH, filled(acme, source))

        assert response.status_code == 409
        assert b"Nothing was done" in response.content
        assert not FundingTransaction.objects.exists()


class TestDetail:
    @pytest.fixture
    def path(self, acme, source, dana_browser):
        return dana_browser.post(PATH, filled(acme, source))["Location"]

    def test_tells_who_did_what(self, path, dana_browser):
        content = dana_browser.get(path).content.decode()

        assert "Reserved" in content
        assert "dana@acme.example" in content
        assert 'hx-trigger="every 5s"' in content

    def test_explains_a_return_and_what_to_do(self, acme, source, dana_browser):
        row = make_funding(
            acme,
            source,
            status=FundingStatus.FAILED,
            returned=True,
            returned_at=source.created_at,
            return_code="R03",
            return_reason="No account",
        )

        content = dana_browser.get(f"/dashboard/funding/{row.pk}").content.decode()

        assert "R03:" in content
        assert "Check the account details and add the account again." in content
        assert 'hx-trigger="every' not in content

    def test_shows_what_the_bank_calls_it_and_when_it_came_back(self, acme, source, dana_browser):
        row = make_funding(
            acme,
            source,
            status=FundingStatus.FAILED,
            returned=True,
            returned_at=datetime(2026, 11, 25, 15, 0, tzinfo=UTC),
            return_code="R01",
            return_reason="Insufficient funds",
            trace_number="091000010000007",
            settlement_date=date(2026, 11, 24),
        )

        content = dana_browser.get(f"/dashboard/funding/{row.pk}").content.decode()

        for fact in (
            "R01: Insufficient funds",
            "091000010000007",
            "Nov 24, 2026",
            "Nov 25, 2026, 10:00 AM EST",
        ):
            assert fact in content

    def test_is_hidden_from_other_tenants(self, path, ravi, sign_in, rival):
        browser = sign_in(ravi)

        assert browser.get(path).status_code == 404
        assert browser.post(f"{path}/cancel", {"acting_for": rival.pk}).status_code == 404
        assert FundingTransaction.objects.get().status == "reserved"

    def test_cancels_once(self, acme, path, dana_browser):
        dana_browser.post(f"{path}/cancel", {"acting_for": acme.pk})
        assert FundingTransaction.objects.get().failure_code == "canceled"

        again = dana_browser.post(f"{path}/cancel", {"acting_for": acme.pk}, follow=True)

        assert b"cannot be canceled" in again.content

    def test_a_viewer_cannot_cancel(self, acme, path, sign_in):
        browser = sign_in(make_member(acme, email="vera@acme.example", role=Role.VIEWER))

        assert b"/cancel" not in browser.get(path).content
        assert browser.post(f"{path}/cancel", {"acting_for": acme.pk}).status_code == 403

    def test_a_stale_window_cannot_cancel(self, rival, path, dana_browser):
        response = dana_browser.post(f"{path}/cancel", {"acting_for": rival.pk})

        assert response.status_code == 409
        assert FundingTransaction.objects.get().status == "reserved"
