"""The stories a funding transaction can tell, from reservation to its end."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from balance import selectors as ledger
from common.state import IllegalTransition
from funding.models import FundingEvent, FundingMethod, FundingTransaction
from funding.services import lifecycle
from funding.states import FUNDING_STATES, IN_FLIGHT, FundingStatus
from funding.transfer import FUNDING
from networks.sandbox.models import SandboxInstruction
from tenants.actors import SYSTEM
from tests.builders import NOW, make_source
from tests.funding.builders import run_due, top_up
from transfers import submission
from transfers.inbox import messages
from webhooks.models import WebhookEvent


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


class TestSubmitting:
    def test_tries_again_while_the_network_is_down(self, acme):
        funding = top_up(acme, source=make_source(acme, account_number="30002"))

        submission.submit_due(FUNDING, now=NOW)
        submission.submit_due(FUNDING, now=NOW + timedelta(seconds=1))  # not due yet
        funding.refresh_from_db()
        assert (funding.status, funding.attempts) == ("reserved", 1)

        submission.submit_due(FUNDING, now=NOW + timedelta(seconds=2))
        submission.submit_due(FUNDING, now=NOW + timedelta(seconds=10))
        funding.refresh_from_db()
        assert (funding.status, funding.attempts) == ("pending", 3)
        assert SandboxInstruction.objects.get().submissions == 3

    def test_worker_that_died_after_the_bank_accepted_loses_nothing(self, acme, monkeypatch):
        funding = top_up(acme)
        monkeypatch.setattr(submission, "_record", lambda *_: None)
        submission.submit_due(FUNDING, now=NOW)
        monkeypatch.undo()
        messages.process(FUNDING, now=NOW)  # the bank's message is there before our own record
        funding.refresh_from_db()
        assert funding.status == FundingStatus.RESERVED

        after_the_lease = NOW + submission.LEASE
        run_due(now=after_the_lease)

        funding.refresh_from_db()
        assert funding.status == FundingStatus.COMPLETED
        assert SandboxInstruction.objects.count() == 1
        assert statement_of(acme) == [("credit", 25_000)]

    def test_worker_that_slept_past_its_lease_records_nothing(self, acme, monkeypatch):
        funding = top_up(acme)
        late = []
        monkeypatch.setattr(submission, "_record", lambda *args: late.append(args))
        submission.submit_due(FUNDING, now=NOW)
        monkeypatch.undo()
        submission.submit_due(FUNDING, now=NOW + submission.LEASE)

        submission._record(*late[0])

        assert history_of(funding) == ["reserved", "pending"]

    def test_one_row_that_cannot_be_sent_does_not_hold_up_the_others(self, acme):
        source = make_source(acme)
        broken = top_up(acme, source=source, now=NOW - timedelta(seconds=1))
        fine = top_up(acme, source=source)
        FundingTransaction.objects.filter(pk=broken.pk).update(network="gone")

        submission.submit_due(FUNDING, now=NOW)

        broken.refresh_from_db()
        fine.refresh_from_db()
        assert fine.status == FundingStatus.PENDING
        assert broken.status == FundingStatus.RESERVED
        assert broken.next_attempt_at == NOW + timedelta(seconds=2)

    def test_what_cannot_be_recorded_is_tried_again(self, acme, monkeypatch):
        funding = top_up(acme)

        def fail(**_move):
            raise RuntimeError("a bug")

        with monkeypatch.context() as broken:
            broken.setattr(lifecycle, "move", fail)
            submission.submit_due(FUNDING, now=NOW)
        submission.submit_due(FUNDING, now=NOW + timedelta(seconds=2))

        funding.refresh_from_db()
        assert funding.status == FundingStatus.PENDING
        assert SandboxInstruction.objects.count() == 1

    def test_leaves_a_suspended_tenants_money_alone(self, acme):
        funding = top_up(acme)
        type(acme).objects.filter(pk=acme.pk).update(status="suspended")

        assert submission.submit_due(FUNDING, now=NOW) == 0

        funding.refresh_from_db()
        assert funding.status == FundingStatus.RESERVED


class TestMachine:
    def test_every_pair_of_statuses(self, acme):
        known = top_up(acme).pk

        for source, target in product(FundingStatus.values, repeat=2):
            if FUNDING_STATES.allows(source, target):
                assert source != target
            else:
                with pytest.raises(IllegalTransition):
                    FUNDING_STATES.advance(FundingTransaction(pk=known, status=source), target)

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
