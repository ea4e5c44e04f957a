"""What people are told while operators have stopped sending, and of money that is there at once."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from funding.models import FundingMethod, FundingTransaction
from funding.states import FundingStatus
from payments.models import Payment, PaymentMethod
from tenants.actors import SYSTEM
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.balance.builders import fund
from tests.builders import NOW, make_endpoint, make_funding, make_source, publish
from tests.dashboard.payments.test_pay import filled, make_recipient
from tests.funding.builders import top_up
from tests.payments.builders import pay
from webhooks.models import WebhookDelivery

PAYMENTS = "We stopped sending payments to banks for everybody on Nov 20, 2026, 10:00 AM EST."
FUNDING = "We stopped sending funding to banks for everybody on Nov 20, 2026, 10:00 AM EST."
WEBHOOKS = "We stopped sending webhooks for everybody on Nov 20, 2026, 10:00 AM EST."
FINE = "Nothing is lost. What is waiting is sent when we resume."


def stop(kind, **what):
    return switches.engage(kind=kind, reason="Bank is odd", actor=SYSTEM, now=NOW, **what)


def page(browser, path):
    response = browser.get(path)
    assert response.status_code == 200
    return response.content.decode()


class TestPaymentsAreStopped:
    def test_every_page_about_one_says_so_and_promises_no_day(self, acme, dana_browser):
        fund(acme, 10_000)
        row = pay(acme, 4_000)
        paths = ("/dashboard/", "/dashboard/payments", f"/dashboard/payments/{row.pk}")
        for path in paths:
            assert re.search("[Ee]xpected", page(dana_browser, path)), path
        stop(SwitchKind.PAYMENTS)

        for path in paths:
            content = page(dana_browser, path)

            assert PAYMENTS in content, path
            assert FINE in content, path
            assert "Sending stopped" in content, path
            assert not re.search("[Ee]xpected", content), path
            assert "Bank is odd" not in content, path

    def test_the_form_the_review_and_the_answer_say_so(self, acme, dana_browser):
        fund(acme, 100_000)
        supplier = make_recipient(acme)
        stop(SwitchKind.PAYMENTS)

        asked = page(dana_browser, "/dashboard/pay/")
        review = dana_browser.post("/dashboard/pay/", filled(acme, supplier, step="review"))
        done = dana_browser.post("/dashboard/pay/", filled(acme, supplier))

        assert PAYMENTS in asked
        assert "Expected" not in asked
        assert PAYMENTS in review.content.decode()
        assert "After sending resumes" in review.content.decode()
        said = page(dana_browser, done["Location"])
        assert f"It is not sent yet. {PAYMENTS}" in said

    @pytest.mark.parametrize(
        ("what", "words"),
        [
            ({"network": "sandbox"}, "payments to banks over the network sandbox on"),
            ({"tenant": True}, "payments to banks for your organization on"),
        ],
    )
    def test_says_how_far_it_goes(self, acme, rival, dana_browser, what, words):
        stop(SwitchKind.PAYMENTS, **({"tenant_id": acme.pk} if "tenant" in what else what))

        assert words in page(dana_browser, "/dashboard/payments")

    def test_is_no_matter_of_another_tenant_or_of_money_in(self, acme, rival, dana_browser):
        top_up(acme)
        stop(SwitchKind.PAYMENTS, tenant_id=rival.pk)
        stop(SwitchKind.PAYMENTS)

        assert "stopped" not in page(dana_browser, "/dashboard/funding")

    def test_what_the_network_has_goes_on(self, acme, dana_browser):
        fund(acme, 10_000)
        row = pay(acme, 4_000)
        Payment.objects.filter(pk=row.pk).update(
            status="processing", processing_at=NOW, next_attempt_at=None
        )
        stop(SwitchKind.PAYMENTS)

        content = page(dana_browser, f"/dashboard/payments/{row.pk}")

        assert "Sending" not in content
        assert "Expected" in content

    def test_is_over_when_it_is(self, acme, dana_browser):
        switch = stop(SwitchKind.PAYMENTS)
        switches.release(switch_id=switch.pk, reason="Fixed", actor=SYSTEM, now=NOW)

        assert "stopped" not in page(dana_browser, "/dashboard/payments")


class TestFundingIsStopped:
    def test_every_page_about_one_says_so_and_promises_no_day(self, acme, dana_browser):
        row = top_up(acme)
        paths = ("/dashboard/", "/dashboard/funding", f"/dashboard/funding/{row.pk}")
        for path in paths:
            assert re.search("[Ee]xpected", page(dana_browser, path)), path
        stop(SwitchKind.FUNDING)

        for path in paths:
            content = page(dana_browser, path)

            assert FUNDING in content, path
            assert "Sending stopped" in content, path
            assert not re.search("[Ee]xpected", content), path

    def test_the_form_and_the_answer_say_so(self, acme, dana_browser):
        source = make_source(acme)
        stop(SwitchKind.FUNDING)
        content = page(dana_browser, "/dashboard/topup/")
        token = re.search(r'name="token" value="([^"]+)"', content)
        assert token is not None
        form = {
            "acting_for": acme.pk,
            "amount": "250",
            "source": source.pk,
            "method": "ach_debit",
            "token": token[1],
        }

        review = dana_browser.post("/dashboard/topup/", {**form, "step": "review"})
        done = dana_browser.post("/dashboard/topup/", {**form, "step": "confirm"})
        again = dana_browser.post("/dashboard/topup/", {**form, "step": "confirm"})

        assert FUNDING in content
        assert "After sending resumes" in review.content.decode()
        assert again["Location"] == done["Location"]
        assert FundingTransaction.objects.count() == 1
        said = page(dana_browser, done["Location"])
        assert f"You ordered a top-up. It is not sent yet. {FUNDING}" in said
        assert "You already sent this form. This is the top-up it created." in said


class TestWebhooksAreStopped:
    @pytest.fixture
    def delivery(self, acme):
        """One that failed once and is tried again."""
        make_endpoint(acme)
        publish(acme)
        due = {"failures": 1, "attempts": 1, "next_attempt_at": NOW + timedelta(minutes=5)}
        WebhookDelivery.objects.update(last_status_code=500, **due)
        return WebhookDelivery.objects.select_related("endpoint").get()

    @pytest.fixture
    def paths(self, delivery):
        return [
            f"/dashboard/webhooks/{delivery.endpoint_id}",
            f"/dashboard/deliveries/{delivery.pk}",
            f"/dashboard/events/{delivery.event_id}",
        ]

    def test_no_page_about_a_delivery_promises_a_next_try(self, paths, dana_browser):
        tried = "".join(page(dana_browser, path) for path in paths)
        assert (tried.count("again <time"), tried.count("Retrying")) == (1, 3)
        assert "<dt>Next attempt</dt>" in tried
        stop(SwitchKind.WEBHOOKS)

        for path in paths:
            content = page(dana_browser, path)

            assert f"{WEBHOOKS} {FINE}" in content, path
            assert "Sending stopped" in content, path
            assert "Retrying" not in content, path
            assert "again <time" not in content, path
            assert "10:05" not in content, path
        assert "<dd>After sending resumes</dd>" in page(dana_browser, paths[1])

    def test_what_is_sent_by_hand_waits_and_says_so(self, acme, delivery, dana_browser):
        stop(SwitchKind.WEBHOOKS, tenant_id=acme.pk)

        answer = dana_browser.post(
            f"/dashboard/deliveries/{delivery.pk}/resend",
            {"acting_for": acme.pk},
            follow=True,
        ).content.decode()

        assert "We send it again once sending resumes." in answer
        assert answer.count("We stopped sending webhooks") == 1
        assert "We are sending it again" not in answer

    def test_is_no_matter_of_another_tenant(self, rival, paths, dana_browser):
        stop(SwitchKind.WEBHOOKS, tenant_id=rival.pk)

        for path in paths:
            assert "stopped" not in page(dana_browser, path)


class TestMoneyThatIsThereAtOnce:
    def test_an_instant_payment_names_no_day(self, acme, dana_browser):
        fund(acme, 100_000)
        make_recipient(acme)
        row = pay(acme, 4_000, method=PaymentMethod.RTP)

        form = page(dana_browser, "/dashboard/pay/")
        instant = form[form.index("Instant payment") :]
        shown = page(dana_browser, f"/dashboard/payments/{row.pk}")

        assert "Expected within seconds of sending · at most" in instant
        assert not re.search(r"Expected (Mon|Tue|Wed|Thu|Fri|Sat|Sun),", instant)
        assert "<dd>Within seconds of sending</dd>" in shown
        assert "expected Nov" not in page(dana_browser, "/dashboard/payments")

    def test_nor_does_its_review(self, acme, dana_browser):
        fund(acme, 100_000)
        supplier = make_recipient(acme)

        review = dana_browser.post(
            "/dashboard/pay/", filled(acme, supplier, method="rtp", step="review")
        ).content.decode()

        assert "Within seconds of sending" in review
        assert "2026" not in review[review.index("Expected") :]

    def test_a_request_for_payment_waits_for_the_bank_not_for_a_day(self, acme, dana_browser):
        row = make_funding(acme, make_source(acme), method=FundingMethod.RTP)

        content = page(dana_browser, f"/dashboard/funding/{row.pk}")

        assert "Within seconds of the approval at the bank" in content
        assert "expected Nov" not in page(dana_browser, "/dashboard/funding")


class TestDeliveryThatWasNeverSent:
    @pytest.mark.parametrize(
        ("status", "words"),
        [
            ("skipped", "The endpoint was off when this happened"),
            ("canceled", "The endpoint was removed before we could send it."),
        ],
    )
    def test_says_why_instead_of_not_yet(self, acme, dana_browser, status, words):
        make_endpoint(acme)
        publish(acme)
        WebhookDelivery.objects.update(status=status, next_attempt_at=None)
        row = WebhookDelivery.objects.get()

        content = page(dana_browser, f"/dashboard/deliveries/{row.pk}")

        assert words in content
        assert "Not sent yet" not in content


def test_a_healthy_funding_has_no_red_crosses_at_the_desk(admin_client, acme):
    row = make_funding(acme, make_source(acme), status=FundingStatus.COMPLETED)

    content = page(admin_client, f"/admin/desk/funding/{row.pk}/")

    assert "icon-no" not in content
    assert 'alt="False"' not in content
    assert "<dt>Returned</dt><dd>No</dd>" in content
