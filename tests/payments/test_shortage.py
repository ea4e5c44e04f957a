"""Payments that are due while available is negative: kept, shown, let go once money is there."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from balance import invariants
from balance.models import Balance
from common import leases
from networks import schemes
from networks.base import NetworkUnavailable
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxInstruction
from payments import tasks
from payments.models import Payment, PaymentMethod
from payments.services import orders, shortage, waiting
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.networks.asking import submit
from tests.payments.asking import approve
from tests.payments.builders import (
    events_of,
    fund,
    funds_of,
    history_of,
    pay,
    postings_of,
    run_due,
    status_of,
    take,
)
from transfers import holds, submission
from transfers.errors import NotCancelable
from transfers.submission import LEASE, RETRY_AFTER

MINUTE = timedelta(minutes=1)
LATER = NOW + MINUTE
LOCK_ROW_OF_BALANCE = "FROM balance WHERE"


def said(queries):
    """All statements as one text."""
    return "; ".join(" ".join(query["sql"].split()) for query in queries)


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


@pytest.fixture
def overdrawn(acme):
    """$100.00 set aside for a payment, then the bank takes back $150.00 of past funding."""
    fund(acme, 10_000)
    payment = pay(acme, 10_000)
    take(acme, 15_000)
    return payment


def sent():
    """The ids that the bank was handed, in the order of arrival."""
    return list(SandboxInstruction.objects.order_by("pk").values_list("external_id", flat=True))


def read(payment):
    return Payment.objects.get(pk=payment.pk)


def cancel(payment):
    return orders.cancel(
        tenant_id=payment.tenant_id, payment_id=payment.pk, actor=SYSTEM, now=LATER
    )


class TestWhileAvailableIsNegative:
    @pytest.mark.parametrize("method", list(PaymentMethod))
    def test_nothing_is_sent_and_the_payment_says_so(self, acme, method):
        fund(acme, 10_000)
        payment = pay(acme, 10_000, method=method)
        take(acme, 1)

        submission.submit_due(PAYMENTS, now=LATER)

        row = read(payment)
        assert sent() == []
        assert (row.status, row.held_back_at, row.next_attempt_at) == ("created", LATER, None)
        assert (row.attempts, row.leased_until, row.expected_arrival_date) == (0, None, None)
        assert (funds_of(acme), history_of(row)) == ((-1, 10_000), ["created"])

    def test_exactly_nothing_is_not_short(self, acme):
        fund(acme, 10_000)
        payment = pay(acme, 10_000)
        assert funds_of(acme) == (0, 10_000)

        submission.submit_due(PAYMENTS, now=LATER)

        assert sent() == [payment.pk]

    def test_other_tenants_are_paid(self, overdrawn, rival):
        fund(rival, 500)
        other = pay(rival, 500)

        submission.submit_due(PAYMENTS, now=LATER)

        assert sent() == [other.pk]

    def test_they_are_asked_before_every_call(self, acme, connect):
        """The bank takes money back while the first of three is being handed over."""
        fund(acme, 300)
        first, *others = [pay(acme, 100, now=NOW + number * MINUTE) for number in range(3)]

        class Bank(SandboxBank):
            capabilities = replace(SandboxBank.capabilities, together=1)

            def submit_many(self, instructions, *, now):
                take(acme, 1)
                return super().submit_many(instructions, now=now)

        connect(Bank())
        submission.submit_due(PAYMENTS, now=NOW + 5 * MINUTE)

        assert sent() == [first.pk]
        assert [read(payment).held_back_at is None for payment in (first, *others)] == [
            True,
            False,
            False,
        ]

    def test_a_held_back_payment_costs_no_sweep_anything(self, overdrawn):
        with CaptureQueriesContext(connection) as one_due:
            submission.submit_due(PAYMENTS, now=LATER)
        with CaptureQueriesContext(connection) as none_due:
            assert submission.submit_due(PAYMENTS, now=LATER + MINUTE) == 0

        assert LOCK_ROW_OF_BALANCE in said(one_due)
        assert LOCK_ROW_OF_BALANCE not in said(none_due)
        assert not Payment.objects.filter(Payment.QUEUED).exists()

    def test_an_approval_is_no_way_around_the_shortage(self, rule, payment):
        take(rule, 10_000)
        approve(payment, now=LATER)

        submission.submit_due(PAYMENTS, now=LATER)

        row = read(payment)
        assert (row.confirmed_at, row.held_back_at, sent()) == (LATER, LATER, [])


class TestRelease:
    @pytest.fixture
    def held_back(self, overdrawn):
        submission.submit_due(PAYMENTS, now=LATER)
        assert read(overdrawn).held_back_at == LATER
        return overdrawn

    def test_the_credit_that_covers_it_wakes_it_after_its_commit(
        self, acme, held_back, django_capture_on_commit_callbacks, woken
    ):
        with django_capture_on_commit_callbacks(execute=True):
            fund(acme, 15_000)
            assert woken() == []
        assert [name for name, _ in woken()] == ["payments.run_waiting"]

        tasks.run_waiting(tenant_id=acme.pk)
        run_due(now=read(held_back).next_attempt_at)

        assert history_of(held_back) == ["created", "processing", "completed"]
        assert events_of(held_back) == [
            "payment.created",
            "payment.processing",
            "payment.completed",
        ]
        assert postings_of(held_back) == [("lock", 10_000), ("settlement", 10_000)]
        assert read(held_back).held_back_at is None
        assert funds_of(acme) == (0, 0)
        assert not Balance.objects.get(tenant=acme).notify_rise

    def test_a_credit_that_does_not_cover_it_leaves_it(self, acme, held_back):
        fund(acme, 14_999)

        assert waiting.run(tenant_id=acme.pk, now=LATER) == 0
        assert waiting.run_due(now=LATER) == 0

        assert read(held_back).held_back_at == LATER
        assert Balance.objects.get(tenant=acme).notify_rise

    def test_the_sweep_finds_what_a_lost_wake_up_left(self, acme, held_back):
        fund(acme, 15_000)

        assert waiting.run_due(now=LATER) == 1

        row = read(held_back)
        assert (row.held_back_at, row.next_attempt_at) == (None, LATER)
        assert row.expected_arrival_date == schemes.ACH_CREDIT.expected_on(LATER)

    def test_goes_oldest_first_and_before_what_waits_for_money(self, acme):
        fund(acme, 600)
        first, second = [pay(acme, 300, now=NOW + number * MINUTE) for number in range(2)]
        take(acme, 100)
        queued = pay(acme, 50, wait=True, now=NOW + 2 * MINUTE)
        submission.submit_due(PAYMENTS, now=NOW + 3 * MINUTE)

        fund(acme, 150)
        waiting.run(tenant_id=acme.pk, now=NOW + 4 * MINUTE)
        submission.submit_due(PAYMENTS, now=NOW + 4 * MINUTE)

        assert sent() == [first.pk, second.pk, queued.pk]

    def test_short_again_before_its_turn_means_held_back_again(self, acme, held_back):
        fund(acme, 15_000)
        waiting.run(tenant_id=acme.pk, now=LATER)
        take(acme, 1)

        submission.submit_due(PAYMENTS, now=LATER + MINUTE)

        assert (sent(), read(held_back).held_back_at) == ([], LATER + MINUTE)

    def test_a_credit_between_the_look_and_the_putting_away_sends_it(self, acme, overdrawn):
        (row,) = leases.claim(PAYMENTS.due(), now=NOW, limit=1)
        assert shortage.among([row]) == {row.pk: True}
        fund(acme, 15_000)

        assert not shortage.keep_back(row, NOW)

        assert (read(row).held_back_at, read(row).attempts) == (None, 1)

    def test_a_suspended_tenants_is_due_again_and_waits_for_the_tenants_release(
        self, acme, held_back
    ):
        type(acme).objects.filter(pk=acme.pk).update(status="suspended")
        fund(acme, 15_000)

        assert waiting.run_due(now=LATER) == 1
        assert submission.submit_due(PAYMENTS, now=LATER) == 0
        type(acme).objects.filter(pk=acme.pk).update(status="active")
        submission.submit_due(PAYMENTS, now=LATER)
        assert sent() == [held_back.pk]


class TestCancelAndHold:
    def test_a_held_back_payment_can_be_canceled_and_that_may_release_others(self, acme):
        fund(acme, 600)
        first, second = pay(acme, 500), pay(acme, 100, now=LATER)
        take(acme, 400)
        submission.submit_due(PAYMENTS, now=LATER)

        cancel(first)

        assert (status_of(first), read(first).held_back_at) == ("canceled", None)
        assert funds_of(acme) == (100, 100)
        assert waiting.run_due(now=LATER) == 1
        submission.submit_due(PAYMENTS, now=LATER)
        assert sent() == [second.pk]

    def test_staff_hold_release_and_stop_it(self, acme, overdrawn):
        submission.submit_due(PAYMENTS, now=LATER)
        holds.hold(PAYMENTS, overdrawn.pk, reason="odd", actor=SYSTEM, now=LATER)
        fund(acme, 15_000)
        waiting.run_due(now=LATER)
        submission.submit_due(PAYMENTS, now=LATER)
        assert sent() == []

        take(acme, 1)
        holds.release(PAYMENTS, overdrawn.pk, reason="fine", actor=SYSTEM, now=LATER)
        submission.submit_due(PAYMENTS, now=LATER)
        assert (sent(), read(overdrawn).held_back_at) == ([], LATER)

        holds.hold(PAYMENTS, overdrawn.pk, reason="odd", actor=SYSTEM, now=LATER)
        holds.stop(PAYMENTS, overdrawn.pk, reason="bad", actor=SYSTEM, now=LATER)
        assert (status_of(overdrawn), read(overdrawn).held_back_at) == ("failed", None)
        assert funds_of(acme) == (9_999, 0)

    def test_a_release_by_staff_is_no_way_around_the_shortage(self, acme, overdrawn):
        submission.submit_due(PAYMENTS, now=LATER)
        holds.hold(PAYMENTS, overdrawn.pk, reason="odd", actor=SYSTEM, now=LATER)

        holds.release(PAYMENTS, overdrawn.pk, reason="fine", actor=SYSTEM, now=LATER)
        submission.submit_due(PAYMENTS, now=LATER)

        assert (sent(), read(overdrawn).held_back_at) == ([], LATER)


class TestOneThatMayHaveBeenSent:
    """A worker claimed it, and nobody knows how far it came."""

    @pytest.fixture
    def claimed(self, acme):
        fund(acme, 10_000)
        payment = pay(acme, 10_000)
        (row,) = leases.claim(PAYMENTS.due(), now=NOW, limit=1, lease=LEASE)
        take(acme, 15_000)
        assert row.pk == payment.pk
        return row

    def tried(self, row, now):
        submission.submit_due(PAYMENTS, now=now)
        return read(row)

    def tried_to_the_end(self, row):
        """All tries whose pause is shorter than the longest; returns when the next one is due."""
        row = self.tried(row, NOW + LEASE)
        while row.attempts < len(RETRY_AFTER):
            assert (row.status, row.held_back_at) == ("created", None)
            row = self.tried(row, row.next_attempt_at)
        return row.next_attempt_at

    def test_is_taken_up_where_the_bank_has_it(self, acme, claimed):
        submit(SandboxBank(), PAYMENTS.instruction(claimed), now=NOW)

        row = self.tried(claimed, NOW + LEASE)

        assert (row.status, row.held_back_at) == ("processing", None)
        assert SandboxInstruction.objects.get().submissions == 1

    def test_is_held_back_once_the_bank_surely_has_nothing(self, acme, claimed):
        due = self.tried_to_the_end(claimed)

        row = self.tried(claimed, due)

        assert (row.status, row.held_back_at, sent()) == ("created", due, [])
        assert row.attempts == len(RETRY_AFTER) + 1
        with pytest.raises(NotCancelable):
            cancel(row)

    def test_is_sent_under_its_id_once_money_is_there(self, acme, claimed):
        due = self.tried_to_the_end(claimed)
        self.tried(claimed, due)
        fund(acme, 15_000)

        waiting.run_due(now=due)

        assert self.tried(claimed, due).status == "processing"
        assert SandboxInstruction.objects.get().submissions == 1

    def test_is_not_put_away_while_the_bank_does_not_say(self, acme, claimed, connect):
        class DeafBank(SandboxBank):
            def find(self, instruction_id):
                raise NetworkUnavailable("no answer")

        connect(DeafBank())
        due = self.tried_to_the_end(claimed)

        row = self.tried(claimed, due)

        assert (row.held_back_at, row.next_attempt_at) == (None, due + RETRY_AFTER[-1])

    def test_one_whose_lease_another_worker_has_is_left_to_it(self, claimed):
        Payment.objects.update(lease_version=claimed.lease_version + 1)

        assert shortage.keep_back(claimed, NOW)

        assert (read(claimed).held_back_at, read(claimed).attempts) == (None, 1)


def test_a_tenant_without_a_balance_row_is_not_short(acme):
    row = Payment(tenant_id=acme.pk)

    assert shortage.among([row]) == {row.pk: False}


def test_one_that_stays_held_back_without_need_is_a_finding(acme, overdrawn):
    submission.submit_due(PAYMENTS, now=LATER)
    assert invariants.check(now=LATER, full=True).findings == []
    fund(acme, 15_000)

    (finding,) = invariants.check(now=LATER, full=True).findings

    assert (finding.code, finding.subject) == ("payment_never_due", overdrawn.pk)
    waiting.run_due(now=LATER)
