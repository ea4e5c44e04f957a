"""Payments that wait for money: who runs when, and who does not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction

from balance import invariants
from balance.errors import InsufficientBalance
from balance.models import Balance
from common.clock import utc_now
from payments import tasks
from payments.models import Payment, PaymentEvent
from payments.services import orders, waiting
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.corruption import tamper
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
from tests.races.together import wait_for_a_lock
from transfers import holds

MINUTE = timedelta(minutes=1)


def start_oldest_and_leave(tenant):
    try:
        return waiting.start_oldest(tenant_id=tenant.pk, now=NOW)
    finally:
        connection.close()


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


@pytest.fixture
def queue(acme):
    """Three payments of 500, 300 and 100 that wait, in this order; 50 is available."""
    fund(acme, 50)
    return [
        pay(acme, amount, wait=True, now=NOW + number * MINUTE)
        for number, amount in enumerate([500, 300, 100])
    ]


def statuses(payments):
    return [status_of(payment) for payment in payments]


def occupy_history(payment):
    """Put a row where the next step of `payment` belongs; returns what takes it away again."""
    row = PaymentEvent.objects.create(
        payment=payment, sequence=2, to_status="created", actor_type="system", created_at=NOW
    )
    return lambda: tamper(f"DELETE FROM payments_paymentevent WHERE id = '{row.pk}'")


def listens(tenant):
    return Balance.objects.get(tenant=tenant).notify_rise


class TestJoining:
    def test_sets_no_money_aside(self, acme):
        payment = pay(acme, 500, wait=True)

        assert payment.status == "waiting_for_funds"
        assert payment.waits_until == NOW + timedelta(days=7)
        assert payment.expected_arrival_date is None
        assert (funds_of(acme), postings_of(payment)) == ((0, 0), [])
        assert events_of(payment) == ["payment.created"]
        assert listens(acme)

    def test_does_not_wait_when_the_money_is_there(self, acme):
        fund(acme, 500)

        payment = pay(acme, 500, wait=True)

        assert payment.status == "created"
        assert not listens(acme)

    def test_lines_up_behind_those_who_wait_already(self, acme, queue):
        payment = pay(acme, 50, wait=True, now=NOW + 5 * MINUTE)

        assert payment.status == "waiting_for_funds"

    def test_who_does_not_wait_spends_what_is_available(self, acme, queue):
        assert pay(acme, 50).status == "created"

        with pytest.raises(InsufficientBalance):
            pay(acme, 1)


class TestRunning:
    def test_a_credit_runs_them_oldest_first_as_far_as_it_goes(self, acme, queue):
        fund(acme, 800)

        assert waiting.run(tenant_id=acme.pk, now=NOW + 5 * MINUTE) == 2

        assert statuses(queue) == ["created", "created", "waiting_for_funds"]
        assert funds_of(acme) == (50, 800)

    def test_a_younger_one_that_would_fit_does_not_pass(self, acme, queue):
        fund(acme, 400)

        assert waiting.run(tenant_id=acme.pk, now=NOW) == 0

        assert statuses(queue) == ["waiting_for_funds"] * 3
        assert funds_of(acme) == (450, 0)

    def test_one_that_ran_goes_the_way_of_every_payment(self, acme, queue):
        fund(acme, 450)

        run_due(now=NOW + 5 * MINUTE)

        first = queue[0]
        assert history_of(first) == ["waiting_for_funds", "created", "processing", "completed"]
        assert events_of(first) == ["payment.created", "payment.processing", "payment.completed"]
        assert postings_of(first) == [("lock", 500), ("settlement", 500)]

    def test_negative_money_runs_nothing(self, acme, queue):
        take(acme, 1_000)
        fund(acme, 500)

        assert waiting.run(tenant_id=acme.pk, now=NOW) == 0

    def test_the_credit_wakes_the_queue_after_its_commit(
        self, acme, queue, django_capture_on_commit_callbacks, woken
    ):
        with django_capture_on_commit_callbacks(execute=True):
            fund(acme, 500)
            assert woken() == []

        assert [name for name, _ in woken()] == ["payments.run_waiting"]

    def test_the_sweep_finds_what_a_lost_wake_up_left(self, acme, rival):
        payments = [pay(tenant, 70, wait=True, now=utc_now()) for tenant in (acme, rival)]
        fund(acme, 70)
        fund(rival, 70)

        tasks.run_waiting()

        assert statuses(payments) == ["created", "created"]

    def test_an_unlock_counts_like_a_credit(self, acme):
        fund(acme, 500)
        first = pay(acme, 500)
        second = pay(acme, 400, wait=True, now=utc_now())
        orders.cancel(tenant_id=acme.pk, payment_id=first.pk, actor=SYSTEM, now=NOW)

        tasks.run_waiting(tenant_id=acme.pk)

        assert statuses([first, second]) == ["canceled", "created"]
        assert funds_of(acme) == (100, 400)

    @pytest.mark.django_db(transaction=True)
    def test_somebody_faster_takes_nothing_away_but_the_money(self, acme, queue):
        """It has looked, and waits to post, when a debit of the same money commits."""
        fund(acme, 500)

        with ThreadPoolExecutor(1) as pool:
            with transaction.atomic():
                take(acme, 500)
                slower = pool.submit(start_oldest_and_leave, acme)
                wait_for_a_lock()
            assert not slower.result()

        assert history_of(queue[0]) == ["waiting_for_funds"]
        assert events_of(queue[0]) == ["payment.created"]

    def test_one_tenants_broken_payment_holds_up_nobody_else(self, acme, rival):
        payments = [pay(tenant, 70, wait=True) for tenant in (acme, rival)]
        for tenant in (acme, rival):
            fund(tenant, 70)
        in_the_way = occupy_history(payments[0])

        assert waiting.run_due(now=NOW) == 1

        assert statuses(payments) == ["waiting_for_funds", "created"]
        in_the_way()

    def test_listens_as_long_as_somebody_waits(self, acme, queue):
        fund(acme, 800)
        waiting.run(tenant_id=acme.pk, now=NOW)
        assert listens(acme)

        fund(acme, 50)
        waiting.run(tenant_id=acme.pk, now=NOW)

        assert statuses(queue) == ["created"] * 3
        assert not listens(acme)

    def test_a_suspended_tenants_wait_for_its_release(self, acme, queue):
        type(acme).objects.filter(pk=acme.pk).update(status="suspended")
        fund(acme, 10_000)

        assert waiting.run_due(now=NOW) == 0
        assert waiting.run(tenant_id=acme.pk, now=NOW) == 0


class TestHolding:
    def test_a_held_one_holds_up_nobody_and_runs_when_released(self, acme, queue):
        holds.hold(PAYMENTS, queue[0].pk, reason="odd", actor=SYSTEM, now=NOW)
        fund(acme, 1_000)
        waiting.run(tenant_id=acme.pk, now=NOW)
        assert statuses(queue) == ["waiting_for_funds", "created", "created"]

        holds.release(PAYMENTS, queue[0].pk, reason="fine", actor=SYSTEM, now=NOW)
        waiting.run_due(now=NOW)

        assert statuses(queue) == ["created"] * 3

    def test_new_ones_do_not_line_up_behind_a_held_one(self, acme):
        first = pay(acme, 500, wait=True)
        holds.hold(PAYMENTS, first.pk, reason="odd", actor=SYSTEM, now=NOW)
        fund(acme, 100)

        assert pay(acme, 100, wait=True).status == "created"


class TestEnding:
    def test_a_waiting_one_can_be_canceled_and_nothing_is_unlocked(self, acme, queue):
        orders.cancel(tenant_id=acme.pk, payment_id=queue[0].pk, actor=SYSTEM, now=NOW)
        fund(acme, 250)
        waiting.run(tenant_id=acme.pk, now=NOW)

        assert statuses(queue) == ["canceled", "created", "waiting_for_funds"]
        assert events_of(queue[0]) == ["payment.created", "payment.failed"]
        assert postings_of(queue[0]) == []

    def test_gives_up_when_its_time_is_over(self, acme, queue):
        late = NOW + timedelta(days=7)

        assert waiting.expire_due(now=late - MINUTE) == 0
        assert waiting.expire_due(now=late) == 1

        first = Payment.objects.get(pk=queue[0].pk)
        assert (first.status, first.failure_code) == ("failed", "wait_expired")
        assert events_of(first) == ["payment.created", "payment.failed"]
        assert (postings_of(first), funds_of(acme)) == ([], (50, 0))

    def test_never_runs_after_its_time(self, acme, queue):
        fund(acme, 10_000)

        late = NOW + timedelta(days=7) + MINUTE / 2
        assert waiting.run(tenant_id=acme.pk, now=late) == 2

        assert statuses(queue) == ["waiting_for_funds", "created", "created"]

    def test_the_sweep_gives_up_for_everybody(self, acme, rival):
        long_ago = utc_now() - timedelta(days=8)
        payments = [pay(tenant, 70, wait=True, now=long_ago) for tenant in (acme, rival)]

        tasks.expire_waiting()

        assert statuses(payments) == ["failed", "failed"]

    def test_one_that_breaks_holds_up_no_other(self, acme, rival):
        payments = [pay(tenant, 70, wait=True) for tenant in (acme, rival)]
        in_the_way = occupy_history(payments[0])

        assert waiting.expire_due(now=NOW + timedelta(days=8)) == 1

        assert statuses(payments) == ["waiting_for_funds", "failed"]
        in_the_way()

    def test_one_canceled_meanwhile_does_not_expire(self, acme, queue):
        orders.cancel(tenant_id=acme.pk, payment_id=queue[0].pk, actor=SYSTEM, now=NOW)

        assert not waiting._expire(queue[0].pk, NOW + timedelta(days=8))

    def test_one_held_meanwhile_does_not_expire(self, acme, queue):
        """Staff hold it between the sweep's look and its turn."""
        late = NOW + timedelta(days=7)
        holds.hold(PAYMENTS, queue[0].pk, reason="odd", actor=SYSTEM, now=late)

        assert not waiting._expire(queue[0].pk, late)

        assert status_of(queue[0]) == "waiting_for_funds"

    def test_one_that_got_more_time_meanwhile_does_not_expire(self, acme, queue):
        """Held and released between the sweep's look and its turn: it has that time back."""
        late = NOW + timedelta(days=7)
        holds.hold(PAYMENTS, queue[0].pk, reason="odd", actor=SYSTEM, now=NOW)
        holds.release(PAYMENTS, queue[0].pk, reason="fine", actor=SYSTEM, now=NOW + MINUTE)

        assert not waiting._expire(queue[0].pk, late)
        assert waiting._expire(queue[0].pk, late + MINUTE)

        assert history_of(queue[0]) == ["waiting_for_funds", "failed"]
