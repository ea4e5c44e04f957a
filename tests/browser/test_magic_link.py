"""An approver's way from the e-mail to the decision, and a scanner's that leads nowhere."""

from __future__ import annotations

import re
import urllib.request

import pytest
from django.core import mail
from playwright.sync_api import expect

from common.clock import utc_now
from funding.models import FundingTransaction
from funding.services import auto_funding
from funding.states import FundingStatus
from tenants.models import Role
from tenants.services import emails
from tests.browser.conftest import PHONE, in_every_look
from tests.builders import make_auto_funding, make_member, make_source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def link(acme, live_server, settings):
    """The address in ann's e-mail about $500.00."""
    settings.BASE_URL = live_server.url
    make_member(acme, email="ann@acme.example", role=Role.APPROVER)
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=10_000)
    auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())
    emails.send_due(now=utc_now())
    (message,) = mail.outbox
    (address,) = re.findall(r"http://\S+/confirm/\S+", str(message.body))
    return address


def status():
    return FundingTransaction.objects.get().status


class TestScanner:
    def test_that_opens_every_link_changes_nothing(self, link, visit):
        for method in ("HEAD", "GET", "GET"):
            request = urllib.request.Request(link, method=method)
            with urllib.request.urlopen(request) as response:
                assert response.status == 200

        visit().page.goto(link)

        assert status() == FundingStatus.AWAITING_CONFIRMATION


class TestApprover:
    def test_approves_by_typing_the_amount(self, link, visit):
        visitor = visit(viewport=PHONE)
        visitor.page.goto(link)

        visitor.page.get_by_label("Type the amount").fill("$500.00")
        visitor.page.get_by_role("button", name="Approve $500.00").click()

        visitor.page.get_by_role("heading", name="Approved").wait_for()
        expect(visitor.page.get_by_text("ann@acme.example").first).to_be_visible()
        assert status() == FundingStatus.RESERVED
        assert visitor.complaints == []

    def test_is_told_about_another_amount_and_may_try_again(self, link, visit):
        visitor = visit()
        visitor.page.goto(link)
        visitor.page.get_by_label("Type the amount").fill("50.00")
        visitor.page.get_by_role("button", name="Approve $500.00").click()

        expect(visitor.page.get_by_text("Type $500.00 to approve it.")).to_be_visible()
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_declines_with_a_reason_without_javascript(self, link, visit):
        visitor = visit(java_script_enabled=False)
        visitor.page.goto(link)

        visitor.page.get_by_text("Decline instead").click()
        visitor.page.get_by_label("Why do you decline?").fill("Not this week")
        visitor.page.get_by_role("button", name="Decline $500.00").click()

        visitor.page.get_by_role("heading", name="Declined").wait_for()
        expect(visitor.page.get_by_text("Not this week")).to_be_visible()
        assert status() == FundingStatus.FAILED

    def test_sends_the_address_nowhere(self, link, visit):
        visitor = visit()
        referrers = []
        visitor.page.on(
            "request", lambda request: referrers.append(request.headers.get("referer", ""))
        )

        visitor.page.goto(link)
        visitor.page.wait_for_load_state("networkidle")

        assert len(referrers) > 3
        assert [referrer for referrer in referrers if "/confirm/" in referrer] == []


@in_every_look
class TestEverybody:
    def test_can_read_the_approval_and_its_end(self, link, visit, scheme, viewport):
        visitor = visit(scheme=scheme, viewport=viewport)
        visitor.page.goto(link)
        visitor.page.get_by_text("Decline instead").click()
        assert visitor.barriers() == []
        assert visitor.sideways_scroll() <= 0

        visitor.page.get_by_label("Why do you decline?").fill("Not this week")
        visitor.page.get_by_role("button", name="Decline $500.00").click()
        visitor.page.get_by_role("heading", name="Declined").wait_for()

        assert visitor.barriers() == []
        assert visitor.sideways_scroll() <= 0
        assert visitor.complaints == []
