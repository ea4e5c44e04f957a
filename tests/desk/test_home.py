from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from balance import figures, invariants
from balance import services as ledger
from common.clock import utc_now
from dashboard.templatetags.ballast import moment
from desk.home.page import home
from funding.models import FundingMethod
from funding.states import FundingStatus
from payments import figures as figures_of_payments
from payments.services import approval_settings
from payments.states import PaymentStatus
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tenants.models import Role
from tests.balance.builders import fund
from tests.builders import make_endpoint, make_funding, make_member, make_source, publish
from tests.payments.builders import fund as give
from tests.payments.builders import pay, take
from transfers import submission


@pytest.fixture
def now():
    return utc_now()


@pytest.fixture
def source(acme):
    return make_source(acme)


def failed(tenant, source, now, *, code, **fields):
    """An ACH debit that came back a moment ago."""
    return make_funding(
        tenant,
        source,
        status=FundingStatus.FAILED,
        returned=True,
        return_code=code,
        returned_at=now,
        failed_at=now,
        pending_at=now - timedelta(days=2),
        **fields,
    )


def completed(tenant, source, now, count, **fields):
    for _ in range(count):
        make_funding(tenant, source, status=FundingStatus.COMPLETED, pending_at=now, **fields)


class TestMoneyInFlight:
    def test_is_counted_by_status(self, acme, rival, source, now):
        make_funding(acme, source, status=FundingStatus.PENDING, amount=1_000)
        make_funding(rival, make_source(rival), status=FundingStatus.PENDING, amount=2_000)
        make_funding(acme, source, status=FundingStatus.COMPLETED, amount=9_999)
        give(acme, 50_000)
        pay(acme, 10_000)
        pay(acme, 70_000, wait=True)

        shown = home(now=now)

        assert [(line.status, line.count, line.cents) for line in shown.funding] == [
            (FundingStatus.RESERVED, 0, 0),
            (FundingStatus.AWAITING_CONFIRMATION, 0, 0),
            (FundingStatus.PENDING, 2, 3_000),
            (FundingStatus.IN_TRANSIT, 0, 0),
        ]
        assert [(line.status, line.count, line.cents) for line in shown.payments] == [
            (figures_of_payments.NEEDS_APPROVAL, 0, 0),
            (PaymentStatus.WAITING_FOR_FUNDS, 1, 70_000),
            (PaymentStatus.CREATED, 1, 10_000),
            (PaymentStatus.PROCESSING, 0, 0),
        ]

    def test_what_awaits_approval_is_counted_there_only(self, acme, now):
        """Found: it was counted as ready to send, or as waiting for money."""
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=1_000, actor=SYSTEM, now=now)
        make_member(acme, email="owner@acme.example", role=Role.OWNER)
        give(acme, 50_000)
        pay(acme, 10_000, to="111000111", now=now)
        pay(acme, 70_000, to="222000222", wait=True, now=now)
        pay(acme, 500, to="333000333", now=now)

        shown = home(now=now)

        assert [(line.label, line.count, line.cents) for line in shown.payments] == [
            ("Needs approval", 2, 80_000),
            ("Waiting for money", 0, 0),
            ("Ready to send", 1, 500),
            ("On its way", 0, 0),
        ]

    def test_links_to_the_lists_of_what_it_counts(self, desk, acme, source, now):
        payments = home(now=now).payments
        page = desk.get("/admin/").content.decode()

        assert "/paymentconfirmation/?decision__exact=open" in page
        for line in payments:
            assert desk.get(line.href).status_code == 200, line.href


class TestFailures:
    def test_of_today_have_plain_words(self, acme, source, now):
        failed(acme, source, now, code="R01", amount=500, failure_message="Not used")
        failed(acme, source, now, code="R01", amount=700)
        make_funding(
            acme,
            source,
            status=FundingStatus.FAILED,
            failed_at=now,
            failure_code="canceled",
            failure_message="You canceled it.",
        )
        failed(acme, source, now - timedelta(days=2), code="R02")

        lines = home(now=now).funding_failures

        assert [(line.code, line.count, line.cents) for line in lines] == [
            ("R01", 2, 1_200),
            ("canceled", 1, 25_000),
        ]
        assert lines[0].title == "Insufficient funds"
        assert lines[0].meaning.startswith("The account did not hold enough money.")
        assert lines[1].meaning == "You canceled it."


class TestReturnRates:
    def test_count_ach_debits_of_sixty_days_by_the_day_they_were_sent(self, acme, source, now):
        completed(acme, source, now, 96)  # and four that came back
        completed(acme, source, now, 5, method=FundingMethod.RTP)
        failed(acme, source, now, code="R10")
        failed(acme, source, now, code="R03")
        failed(acme, source, now, code="R01")
        failed(acme, source, now, code="R01")
        old = failed(acme, source, now, code="R10")
        type(old).objects.filter(pk=old.pk).update(pending_at=now - timedelta(days=61))

        unauthorized, administrative, overall = home(now=now).meters

        assert (unauthorized.returns, unauthorized.debits, unauthorized.rate) == (1, 100, 1.0)
        assert (administrative.returns, administrative.rate) == (1, 1.0)
        assert (overall.returns, overall.rate) == (4, 4.0)
        assert [meter.tone for meter in (unauthorized, administrative, overall)] == [
            "bad",
            "good",
            "good",
        ]

    def test_name_the_worst_tenants_first(self, acme, rival, source, now):
        completed(acme, source, now, 199)
        failed(acme, source, now, code="R01")
        rivals = make_source(rival)
        completed(rival, rivals, now, 39)
        failed(rival, rivals, now, code="R10")

        shown = home(now=now)

        assert [tenant.tenant_id for tenant in shown.worst] == [rival.pk, acme.pk]
        assert shown.worst[0].worst.label == "Unauthorized"
        assert [item.text for item in shown.attention if "Rival" in item.text] == [
            "Rival: 2.50 % unauthorized returns."
        ]


class TestWebhooks:
    def test_shows_the_backlog_and_endpoints_in_trouble(self, acme, now):
        make_endpoint(acme)
        make_endpoint(acme, first_failure_at=now)
        make_endpoint(acme, status="disabled", disabled_reason="failing")
        publish(acme, now=now - timedelta(minutes=5))

        shown = home(now=now)

        assert (shown.webhooks.backlog, shown.webhooks.failing, shown.webhooks.disabled) == (
            2,
            1,
            1,
        )
        assert shown.webhooks.success_percent is None
        (line,) = [line for line in shown.queues if line.tone == "bad"]
        assert (line.name, line.state.due, line.seconds) == ("Webhook deliveries", 2, 300)


class TestLedgerCheck:
    def test_says_when_it_never_ran(self, db, now):
        assert home(now=now).check.words == "Never run"

    def test_shows_the_last_result(self, db, now):
        invariants.check(now=now)

        shown = home(now=now)

        assert (shown.check.tone, shown.check.words) == ("good", "Proven")
        assert shown.attention == []

    def test_that_found_something_is_the_first_thing_one_sees(self, acme, now):
        ledger.change_pending(tenant_id=acme.pk, delta=500)  # without funding in flight
        invariants.check(now=now)

        first = home(now=now).attention[0]

        assert (first.tone, first.text) == ("bad", "Ledger check: 1 finding.")

    def test_grows_old(self, db, now):
        invariants.check(now=now - timedelta(hours=2))

        assert home(now=now).check.words == "Proven, but too long ago"


class TestAttention:
    def test_leads_to_pages_that_open(self, desk, acme, source, now):
        make_funding(acme, source, held_at=now, hold_reason="Looks odd")
        give(acme, 500)
        pay(acme, 500)
        take(acme, 1)
        submission.submit_due(PAYMENTS, now=now)
        invariants.check(now=now)
        texts = [item.text for item in home(now=now).attention]
        assert "Payments held back, balance below zero: 1." in texts
        assert "Balances below zero: 1." in texts

        for item in home(now=now).attention:
            assert desk.get(item.href).status_code == 200, item.href


class TestPage:
    def test_opens_with_something_in_every_part(
        self, desk, acme, source, now, django_assert_max_num_queries
    ):
        make_funding(acme, source, status=FundingStatus.PENDING, pending_at=now)
        failed(acme, source, now, code="R10")
        give(acme, 50_000)
        pay(acme, 10_000)
        invariants.check(now=now)
        fund(acme, 99_900)

        with django_assert_max_num_queries(56):  # two of them load what the person may do
            content = desk.get("/admin/").content.decode()

        assert "R10</a></strong> Not authorized" in content
        assert "$400.00" in content
        totals = figures.totals()
        assert totals is not None
        assert content.count(f"As of {moment(totals.at)}") == 3
        assert f"/admin/desk/tenants/{acme.pk}/" in content

    def test_costs_the_same_for_any_number_of_rows(self, desk, acme, rival, source, now):
        def queries():
            with CaptureQueriesContext(connection) as captured:
                desk.get("/admin/")
            return len(captured)

        failed(acme, source, now, code="R01")
        few = queries()
        for code in ("R02", "R03", "R10"):
            failed(rival, make_source(rival, account_number=f"00012345{code[1:]}"), now, code=code)

        assert queries() == few

    def test_hides_figures_from_staff_who_may_not_see_tenants(self, staff_with, acme):
        fund(acme, 123_456)

        content = staff_with().get("/admin/").content.decode()

        assert "1,234.56" not in content
        assert "You may not see tenants" in content
