"""The stories a funding transaction can tell, from reservation to its end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import selectors as ledger
from common.state import IllegalTransition
from funding.models import FundingEvent, FundingMethod, FundingTransaction
from funding.services import lifecycle
from funding.states import IN_FLIGHT, FundingStatus
from funding.transfer import FUNDING
from tenants.actors import SYSTEM
from tests.builders import NOW, make_source
from tests.funding.builders import run_due, top_up
from transfers import submission
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.usefixtures("set_size")


def balance_of(tenant):
    funds = ledger.summary(tenant.pk)
    return funds.available, funds.pending, funds.locked


def statement_of(tenant):
    rows = ledger.transactions(tenant_id=tenant.pk).order_by("sequence")
    return list(rows.values_list("type", "amount"))


def history_of(funding):
    rows = FundingEvent.objects.filter(funding=funding).order_by("sequence")
    return [row.to_status for row in rows]


def events_of(funding):
    rows = WebhookEvent.objects.filter(payment_id=funding.pk).order_by("sequence")
    return [row.type for row in rows]


class TestCompleting:
    def test_counts_as_pending_until_the_money_arrives(self, acme):
        top_up(acme, amount=25_000)

        assert balance_of(acme) == (0, 25_000, 0)
        assert statement_of(acme) == []

    def test_walks_all_statuses_and_credits_once(self, acme):
        funding = top_up(acme, amount=25_000)

        run_due()

        funding.refresh_from_db()
        assert history_of(funding) == ["reserved", "pending", "in_transit", "completed"]
        assert events_of(funding) == ["payment.created", "payment.processing", "payment.completed"]
        assert balance_of(acme) == (25_000, 0, 0)
        assert statement_of(acme) == [("credit", 25_000)]
        assert funding.trace_number
        assert funding.next_attempt_at is None

    def test_says_when_ach_money_can_be_counted_on(self, acme):
        funding = top_up(acme)

        # Friday 2026-11-20: settles Monday, return window ends Wednesday
        assert funding.expected_availability_date.isoformat() >= "2026-11-24"

    def test_says_so_anew_when_it_is_handed_over_late(self, acme):
        # As after operators had stopped sending for a week.
        funding = top_up(acme)
        promised = funding.expected_availability_date

        submission.submit_due(FUNDING, now=NOW + timedelta(days=7))

        funding.refresh_from_db()
        assert funding.status == "pending"
        assert (funding.expected_availability_date - promised).days in range(4, 10)

    def test_rtp_completes_too(self, acme):
        funding = top_up(acme, method=FundingMethod.RTP)

        run_due()

        funding.refresh_from_db()
        assert funding.status == FundingStatus.COMPLETED


class TestRequests:
    """For payment: they lapse."""

    def test_lapse_a_day_after_they_were_first_sent(self, acme):
        funding = top_up(
            acme, source=make_source(acme, account_number="30002"), method=FundingMethod.RTP
        )
        assert funding.request_expires_at is None

        for later in (0, 10, 60):  # the network is down twice
            submission.submit_due(FUNDING, now=NOW + timedelta(seconds=later))

        funding.refresh_from_db()
        assert funding.status == FundingStatus.PENDING
        assert funding.request_expires_at == NOW + timedelta(hours=24)
        assert FUNDING.instruction(funding).expires_at == funding.request_expires_at

    def test_are_not_what_ach_sends(self, acme):
        funding = top_up(acme)
        run_due()

        funding.refresh_from_db()
        assert funding.request_expires_at is None
        assert FUNDING.instruction(funding).expires_at is None


class TestFailing:
    def test_return_in_transit_gives_the_pending_money_up(self, acme):
        funding = top_up(acme, source=make_source(acme, account_number="10001"))

        run_due()

        funding.refresh_from_db()
        assert (funding.status, funding.returned, funding.return_code) == ("failed", True, "R01")
        assert funding.return_reason == "Insufficient funds"
        assert events_of(funding)[-1] == "payment.returned"
        assert balance_of(acme) == (0, 0, 0)
        assert statement_of(acme) == []

    def test_late_return_takes_the_money_back_and_keeps_completed_at(self, acme):
        funding = top_up(acme, amount=7_500, source=make_source(acme, account_number="20001"))

        run_due()

        funding.refresh_from_db()
        assert (funding.status, funding.returned) == ("failed", True)
        assert funding.completed_at is not None
        assert history_of(funding)[-2:] == ["completed", "failed"]
        assert events_of(funding)[-2:] == ["payment.completed", "payment.returned"]
        assert statement_of(acme) == [("credit", 7_500), ("debit", 7_500)]
        assert balance_of(acme) == (0, 0, 0)

    @pytest.mark.parametrize(
        ("account_number", "code"),
        [("40003", "AC03"), ("40004", "AC04"), ("40006", "AC06"), ("41004", "AM04")],
    )
    def test_rtp_request_can_be_rejected(self, acme, account_number, code):
        source = make_source(acme, account_number=account_number)
        funding = top_up(acme, source=source, method=FundingMethod.RTP)

        run_due()

        funding.refresh_from_db()
        assert (funding.status, funding.returned) == ("failed", False)
        assert funding.failure_code == code
        assert events_of(funding)[-1] == "payment.failed"
        assert balance_of(acme) == (0, 0, 0)

    def test_account_30001_stays_pending(self, acme):
        funding = top_up(acme, source=make_source(acme, account_number="30001"))

        run_due(now=NOW + timedelta(days=5))

        funding.refresh_from_db()
        assert funding.status == FundingStatus.PENDING


class TestMachine:
    def test_pending_money_is_what_is_in_flight(self):
        assert set(IN_FLIGHT) == set(FundingStatus.values) - {"completed", "failed"}

    def test_second_worker_changes_nothing(self, acme):
        funding = top_up(acme)
        twin = FundingTransaction.objects.get(pk=funding.pk)
        lifecycle.move(funding=funding, target=FundingStatus.PENDING, actor=SYSTEM, now=NOW)

        with pytest.raises(IllegalTransition):
            lifecycle.move(funding=twin, target=FundingStatus.PENDING, actor=SYSTEM, now=NOW)

        assert history_of(funding) == ["reserved", "pending"]
        assert events_of(funding) == ["payment.created", "payment.processing"]
