"""Money out by many at once: never more than there is, each payment once, nobody passed over."""

from __future__ import annotations

import contextlib
from collections import Counter
from datetime import timedelta
from threading import Event

import pytest
from django.db import transaction

from balance import invariants
from balance import selectors as balances
from balance.errors import InsufficientBalance
from balance.signals import available_balance_rose
from common.clock import utc_now
from funding.models import FundingTransaction
from funding.transfer import FUNDING
from networks.sandbox.models import SandboxInstruction
from payments.errors import DuplicateRecipient
from payments.models import AUTO, Payment, PaymentAttempt, PaymentEvent, Recipient
from payments.services import orders, recipients, waiting
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tests.builders import ApiClient, make_auto_funding, make_key, make_source, make_tenant
from tests.funding.builders import top_up
from tests.payments.builders import (
    account,
    fund,
    funds_of,
    history_of,
    pay,
    run_due,
    status_of,
    take,
)
from tests.races.together import rounds, together, wait_for_a_lock
from transfers import submission
from transfers.errors import NotCancelable
from transfers.inbox import messages

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/api/v1/payments"
BODY = {
    "amount": 100,
    "recipient": {
        "accountNumber": "000123456789",
        "routingNumber": "021000021",
        "accountHolderName": "Supplier LLC",
        "accountHolderType": "business",
        "accountType": "checking",
    },
}


@pytest.fixture
def tenant(db):
    return make_tenant()


@pytest.fixture(autouse=True)
def books_balance(tenant):
    """Whoever won, the books agree with it."""
    yield
    assert invariants.check(now=utc_now(), full=True).findings == []


def kinds_of(results):
    return Counter(type(result).__name__ for result in results)


def statuses():
    return Counter(Payment.objects.values_list("status", flat=True))


def cancel(payment):
    return orders.cancel(
        tenant_id=payment.tenant_id, payment_id=payment.pk, actor=SYSTEM, now=utc_now()
    )


class TestOrdering:
    def test_16_clients_never_pay_more_than_available(self, tenant):
        fund(tenant, 500)
        keys = [make_key(tenant) for _ in range(16)]

        def order(worker):
            api = ApiClient(keys[worker])
            return [api.post_json(PATH, BODY) for _ in range(4)]

        answers = [answer for some in together(order, workers=16) for answer in some]

        assert Counter(answer.status_code for answer in answers) == {201: 5, 422: 59}
        refusals = [answer.json() for answer in answers if answer.status_code == 422]
        assert {refusal["code"] for refusal in refusals} == {"insufficient_balance"}
        assert all(refusal["availableBalance"] < 100 for refusal in refusals)
        assert funds_of(tenant) == (0, 500)
        assert Payment.objects.count() == Recipient.objects.count() == 5

    def test_32_identical_requests_with_one_key_are_one_payment(self, tenant):
        fund(tenant, 10_000)
        key = make_key(tenant)

        answers = together(
            lambda _: ApiClient(key).post_json(PATH, BODY, **{"Idempotency-Key": "one"}),
            workers=32,
        )

        codes = Counter(answer.status_code for answer in answers)
        assert set(codes) <= {201, 409}
        assert len({answer.content for answer in answers if answer.status_code == 201}) == 1
        assert Payment.objects.count() == 1
        assert funds_of(tenant) == (9_900, 100)

    def test_16_that_may_wait_all_get_a_place_and_a_turn(self, tenant):
        fund(tenant, 500)

        together(lambda _: pay(tenant, 100, wait=True, now=utc_now()), workers=16)

        assert statuses() == {"created": 5, "waiting_for_funds": 11}
        fund(tenant, 1_100)
        assert waiting.run(tenant_id=tenant.pk, now=utc_now()) == 11
        assert funds_of(tenant) == (0, 1_600)

    def test_the_same_recipient_saved_16_times_is_one(self, tenant):
        def save(_):
            return recipients.save(
                tenant_id=tenant.pk, details=account(), actor=SYSTEM, now=utc_now()
            )

        assert kinds_of(together(save, workers=16)) == {
            Recipient.__name__: 1,
            DuplicateRecipient.__name__: 15,
        }

    def test_a_payment_through_the_threshold_starts_one_automatic_funding(self, tenant):
        make_source(tenant)
        make_auto_funding(tenant, low_balance_threshold=5_000, funding_amount=100_000)
        fund(tenant, 10_000)

        results = together(lambda _: pay(tenant, 1_000, now=utc_now()), workers=10)

        assert kinds_of(results) == {"Payment": 10}
        assert funds_of(tenant) == (0, 10_000)
        (funding,) = FundingTransaction.objects.all()
        assert (funding.amount, funding.trigger) == (100_000, "auto_funding")


class TestSending:
    def test_8_workers_take_each_payment_through_once(self, tenant):
        now = utc_now()
        fund(tenant, 2_000)
        for _ in range(20):
            pay(tenant, 100, now=now)

        def work(_):
            for _ in range(5):
                submission.submit_due(PAYMENTS, now=now)
                messages.process(PAYMENTS, now=now)

        together(work, workers=8)
        work(0)

        assert statuses() == {"completed": 20}
        assert SandboxInstruction.objects.count() == 20
        assert PaymentEvent.objects.count() == 20 * 3
        assert funds_of(tenant) == (0, 0)

    @rounds(10)
    def test_cancel_races_with_submission_and_one_wins(self, tenant, round_):
        fund(tenant, 100)
        payment = pay(tenant, 100, now=utc_now())
        acts = (lambda: submission.submit_due(PAYMENTS, now=utc_now()), lambda: cancel(payment))

        results = together(lambda worker: acts[worker](), workers=2)

        was_sent = SandboxInstruction.objects.exists()
        assert status_of(payment) == ("processing" if was_sent else "canceled")
        assert isinstance(results[1], NotCancelable) == was_sent
        assert funds_of(tenant) == ((0, 100) if was_sent else (100, 0))

    def test_8_cancels_unlock_once(self, tenant):
        fund(tenant, 100)
        payment = pay(tenant, 100, now=utc_now())

        results = together(lambda _: cancel(payment), workers=8)

        assert kinds_of(results) == {"Payment": 1, "NotCancelable": 7}
        assert funds_of(tenant) == (100, 0)


class TestWaiting:
    def test_4_workers_run_each_waiting_payment_once_and_in_order(self, tenant):
        now = utc_now()
        moments = [now + timedelta(microseconds=number) for number in range(30)]
        queue = [pay(tenant, 100, wait=True, now=moment) for moment in moments]

        def work(worker):
            if worker == 0:
                for _ in range(10):
                    fund(tenant, 250, now=now)
            for _ in range(10):
                waiting.run(tenant_id=tenant.pk, now=now)

        together(work, workers=5)
        waiting.run(tenant_id=tenant.pk, now=now)

        assert [status_of(payment) for payment in queue] == (
            ["created"] * 25 + ["waiting_for_funds"] * 5
        )
        assert history_of(queue[0]) == ["waiting_for_funds", "created"]
        assert funds_of(tenant) == (0, 2_500)
        locked = [row["source_id"] for row in lock_rows(tenant)]
        assert locked == [payment.pk for payment in queue[:25]]

    @rounds(10)
    def test_a_credit_and_a_newcomer_at_once_leave_nobody_asleep(self, tenant, round_):
        """Either the newcomer sees the money, or the credit sees that somebody waits."""
        now = utc_now()
        acts = (lambda: pay(tenant, 100, wait=True, now=now), lambda: credit_and_run(tenant, now))

        together(lambda worker: acts[worker](), workers=2)

        assert statuses() == {"created": 1}
        assert funds_of(tenant) == (0, 100)

    def test_the_last_one_to_run_does_not_deafen_who_just_came(self, tenant):
        """The newcomer is not committed yet when the runner finds the queue empty."""
        now, joined = utc_now(), Event()

        def join_or_leave(worker):
            if worker == 1:
                assert joined.wait(30)
                return waiting.run(tenant_id=tenant.pk, now=now)
            with transaction.atomic():
                payment = pay(tenant, 100, wait=True, now=now)
                joined.set()
                wait_for_a_lock()
            return payment

        payment, ran = together(join_or_leave, workers=2)
        credit_and_run(tenant, now)

        assert (ran, status_of(payment)) == (0, "created")

    @rounds(10)
    def test_cancel_and_expiry_race_with_the_run_and_one_wins(self, tenant, round_):
        now = utc_now()
        payment = pay(tenant, 100, wait=True, now=now)
        fund(tenant, 100)
        acts = (
            lambda: waiting.run(tenant_id=tenant.pk, now=now),
            lambda: cancel(payment),
            lambda: waiting.expire_due(now=now + timedelta(days=7)),
        )

        together(lambda worker: acts[worker](), workers=3)

        end = status_of(payment)
        assert end in {"created", "canceled", "failed"}
        assert funds_of(tenant) == ((0, 100) if end == "created" else (100, 0))


class TestShortOfMoney:
    @rounds(10)
    def test_a_credit_and_a_submission_at_once_leave_no_payment_asleep(self, tenant, round_):
        """Either the submission sees the money, or the credit hears that a payment is held back."""
        now = utc_now()
        fund(tenant, 100, now=now)
        payment = pay(tenant, 100, now=now)
        take(tenant, 100, now=now)
        acts = (
            lambda: submission.submit_due(PAYMENTS, now=now),
            lambda: credit_and_run(tenant, now),
        )

        together(lambda worker: acts[worker](), workers=2)
        submission.submit_due(PAYMENTS, now=now)

        assert status_of(payment) == "processing"
        assert SandboxInstruction.objects.get().submissions == 1

    def test_a_return_that_is_being_posted_comes_before_the_submission(self, tenant):
        now = utc_now()
        fund(tenant, 100, now=now)
        payment = pay(tenant, 100, now=now)
        begun = Event()

        def act(worker):
            if worker == 1:
                assert begun.wait(30)
                return submission.submit_due(PAYMENTS, now=now)
            with transaction.atomic():
                take(tenant, 1, now=now)
                begun.set()
                wait_for_a_lock()
            return None

        together(act, workers=2)

        assert not SandboxInstruction.objects.exists()
        assert Payment.objects.get(pk=payment.pk).held_back_at == now

    @rounds(10)
    def test_cancel_races_with_the_putting_away_and_unlocks_once(self, tenant, round_):
        now = utc_now()
        fund(tenant, 100, now=now)
        payment = pay(tenant, 100, now=now)
        take(tenant, 50, now=now)
        acts = (lambda: submission.submit_due(PAYMENTS, now=now), lambda: cancel(payment))

        results = together(lambda worker: acts[worker](), workers=2)
        if isinstance(results[1], NotCancelable):  # claimed, and not yet put away
            cancel(payment)

        row = Payment.objects.get(pk=payment.pk)
        assert (row.status, row.held_back_at) == ("canceled", None)
        assert funds_of(tenant) == (50, 0)
        assert not SandboxInstruction.objects.exists()


def lock_rows(tenant):
    return balances.transactions(tenant.pk).filter(type="lock").order_by("sequence")


def credit_and_run(tenant, now):
    """A credit, and what its wake-up does if it was announced."""
    heard = []

    def listen(sender, signal, **values):
        heard.append(values)

    available_balance_rose.connect(listen)
    fund(tenant, 100, now=now)
    available_balance_rose.disconnect(listen)
    if heard:
        waiting.run(tenant_id=tenant.pk, now=now)


@rounds(5)
def test_a_return_of_past_funding_while_payments_run_leaves_exact_figures(tenant, round_):
    """Available may fall below zero: from then on nothing is locked or sent, and nothing lost."""
    now = utc_now()
    source = make_source(tenant, account_number="20001")
    top_up(tenant, amount=1_000, source=source, now=now)
    submission.submit_due(FUNDING, now=now)
    fund(tenant, 500)

    def act(worker):
        if worker == 0:
            return [messages.process(FUNDING, now=now) for _ in range(5)]
        for _ in range(4):
            with contextlib.suppress(InsufficientBalance):
                pay(tenant, 100, now=now)
            submission.submit_due(PAYMENTS, now=now)
            messages.process(PAYMENTS, now=now)
        return None

    results = together(act, workers=5)
    run_due(now=now)
    messages.process(FUNDING, now=now)

    assert not any(isinstance(result, Exception) for result in results)
    made = Payment.objects.count()
    held_back = Payment.objects.filter(status="created", held_back_at__isnull=False).count()
    assert statuses()["completed"] + held_back == made
    assert held_back == 0 or made > 5
    assert FundingTransaction.objects.get().returned
    assert funds_of(tenant) == (500 - 100 * made, 100 * held_back)
    with pytest.raises(InsufficientBalance):
        pay(tenant, max(1, 500 - 100 * made + 1), now=now)


class TestAnotherWay:
    def test_8_workers_take_each_payment_there_once(self, tenant):
        now = utc_now()
        fund(tenant, 2_000)
        made = [pay(tenant, 100, to="51001", method=AUTO, now=now) for _ in range(20)]

        def work(_):
            for _ in range(8):
                submission.submit_due(PAYMENTS, now=now)
                messages.process(PAYMENTS, now=now)

        together(work, workers=8)
        work(0)

        assert statuses() == {"completed": 20}
        assert PaymentAttempt.objects.count() == 20
        sent = SandboxInstruction.objects.values_list("network", "submissions")
        assert Counter(sent) == {("sandbox_rtp", 1): 20, ("sandbox", 1): 20}
        assert {tuple(history_of(each)) for each in made} == {
            ("created", "processing", "created", "processing", "completed")
        }
        assert funds_of(tenant) == (0, 0)
        assert not invariants.check(now=now, full=True).findings

    @rounds(10)
    def test_a_cancel_races_with_it_and_one_wins(self, tenant, round_):
        fund(tenant, 100)
        payment = pay(tenant, 100, to="51001", method=AUTO, now=utc_now())
        submission.submit_due(PAYMENTS, now=utc_now())
        acts = (lambda: go_on(), lambda: [cancel_once(payment) for _ in range(20)])

        together(lambda worker: acts[worker](), workers=2)

        by_ach = SandboxInstruction.objects.filter(network="sandbox")
        assert status_of(payment) == ("processing" if by_ach.exists() else "canceled")
        assert funds_of(tenant) == ((0, 100) if by_ach.exists() else (100, 0))


def go_on():
    """The refusal is applied, and what can be sent then is sent, but nothing more."""
    messages.process(PAYMENTS, now=utc_now())
    submission.submit_due(PAYMENTS, now=utc_now())


def cancel_once(payment):
    with contextlib.suppress(NotCancelable):
        cancel(payment)
