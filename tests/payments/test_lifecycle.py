"""The stories a payment can tell, from its order to its end."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from balance import invariants
from balance.errors import InsufficientBalance
from common.state import IllegalTransition
from payments.models import Payment, PaymentEvent, PaymentMethod, Recipient
from payments.services import lifecycle
from payments.states import COLUMN_OF, OPEN, PaymentStatus
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.database import owner
from tests.networks.scripted import BankOfOneLimit
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
from transfers import submission
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.usefixtures("set_size")


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


@pytest.fixture
def funded(acme):
    fund(acme, 50_000)
    return acme


class TestOrdering:
    def test_sets_the_money_aside_at_once(self, funded):
        payment = pay(funded, 20_000)

        assert payment.status == PaymentStatus.CREATED
        assert funds_of(funded) == (30_000, 20_000)
        assert postings_of(payment) == [("lock", 20_000)]
        assert events_of(payment) == ["payment.created"]

    def test_refuses_more_than_is_available_and_keeps_nothing(self, funded):
        with pytest.raises(InsufficientBalance) as refusal:
            pay(funded, 50_001)

        assert refusal.value.extra == {"available_balance": 50_000, "shortfall": 1}
        assert funds_of(funded) == (50_000, 0)
        assert not Payment.objects.exists()
        assert not Recipient.objects.exists()
        assert not WebhookEvent.objects.exists()

    def test_locks_nothing_while_available_is_short(self, funded):
        take(funded, 60_000)

        with pytest.raises(InsufficientBalance) as refusal:
            pay(funded, 1)

        assert refusal.value.extra == {"available_balance": -10_000, "shortfall": 10_001}

    def test_says_when_the_money_arrives(self, funded):
        # Friday 2026-11-20, 10:00 in New York: today's ACH file, settled on Monday.
        by_ach = pay(funded, 100)
        by_rtp = pay(funded, 100, method=PaymentMethod.RTP)

        assert by_ach.expected_arrival_date == date(2026, 11, 23)
        assert by_rtp.expected_arrival_date == date(2026, 11, 20)

    def test_says_so_anew_when_it_is_handed_over_late(self, funded):
        # As after operators had stopped sending for a week: the file of Friday the 27th.
        payment = pay(funded, 100, to="30001")

        submission.submit_due(PAYMENTS, now=NOW + timedelta(days=7))

        payment.refresh_from_db()
        assert (payment.status, payment.expected_arrival_date) == ("processing", date(2026, 11, 30))


class TestCompleting:
    @pytest.mark.parametrize("method", PaymentMethod.values)
    def test_the_locked_money_leaves(self, funded, method):
        payment = pay(funded, 20_000, method=PaymentMethod(method))

        run_due()

        assert history_of(payment) == ["created", "processing", "completed"]
        assert events_of(payment) == ["payment.created", "payment.processing", "payment.completed"]
        assert postings_of(payment) == [("lock", 20_000), ("settlement", 20_000)]
        assert funds_of(funded) == (30_000, 0)

    def test_events_tell_the_direction_and_count_up(self, funded):
        payment = pay(funded, 20_000)
        run_due()

        bodies = WebhookEvent.objects.filter(payment_id=payment.pk).order_by("sequence")
        told = [json.loads(bytes(event.body))["data"] for event in bodies]

        assert [data["status"] for data in told] == ["created", "processing", "completed"]
        assert [data["sequence"] for data in told] == [1, 2, 3]
        assert {data["direction"] for data in told} == {"out"}
        assert {data["amount"] for data in told} == {20_000}

    def test_only_ach_has_a_trace_number(self, funded):
        by_ach, by_rtp = pay(funded, 100), pay(funded, 100, method=PaymentMethod.RTP)

        submission.submit_due(PAYMENTS, now=NOW)

        by_ach.refresh_from_db()
        by_rtp.refresh_from_db()
        assert len(by_ach.trace_number) == 15
        assert (by_rtp.trace_number, by_rtp.network_reference[:3]) == ("", "SBX")


class TestFailing:
    @pytest.mark.parametrize(
        ("account_number", "code"),
        [("40003", "AC03"), ("40004", "AC04"), ("40006", "AC06"), ("41004", "AM04")],
    )
    def test_rtp_rejections_give_the_money_back(self, funded, account_number, code):
        payment = pay(funded, 20_000, to=account_number, method=PaymentMethod.RTP)

        run_due()

        payment.refresh_from_db()
        assert (payment.status, payment.failure_code, payment.returned) == ("failed", code, False)
        assert payment.failure_message
        assert events_of(payment)[-1] == "payment.failed"
        assert postings_of(payment) == [("lock", 20_000), ("unlock", 20_000)]
        assert funds_of(funded) == (50_000, 0)

    def test_return_in_transit_is_a_failure_that_says_so(self, funded):
        payment = pay(funded, 20_000, to="10003")

        run_due()

        payment.refresh_from_db()
        assert (payment.status, payment.returned, payment.return_code) == ("failed", True, "R03")
        assert payment.completed_at is None
        assert events_of(payment)[-1] == "payment.returned"
        assert postings_of(payment) == [("lock", 20_000), ("unlock", 20_000)]
        assert funds_of(funded) == (50_000, 0)

    def test_return_after_completion_credits_the_money_back(self, funded):
        payment = pay(funded, 20_000, to="20003")

        run_due()

        payment.refresh_from_db()
        assert (payment.status, payment.returned, payment.return_code) == ("returned", True, "R03")
        assert payment.return_reason == "No account found"
        assert payment.completed_at is not None
        assert history_of(payment) == ["created", "processing", "completed", "returned"]
        assert events_of(payment)[-2:] == ["payment.completed", "payment.returned"]
        assert postings_of(payment) == [
            ("lock", 20_000),
            ("settlement", 20_000),
            ("credit", 20_000),
        ]
        assert funds_of(funded) == (50_000, 0)

    def test_account_30001_stays_on_its_way(self, funded):
        payment = pay(funded, 20_000, to="30001")

        run_due(now=NOW + timedelta(days=5))

        assert status_of(payment) == "processing"
        assert funds_of(funded) == (30_000, 20_000)

    def test_a_refusal_by_the_network_gives_the_money_back(self, funded, connect):
        payment = pay(funded, 20_000)
        connect(BankOfOneLimit(19_999))

        submission.submit_due(PAYMENTS, now=NOW)

        payment.refresh_from_db()
        assert (payment.status, payment.failure_code) == ("failed", "unsupported")
        assert events_of(payment) == ["payment.created", "payment.failed"]
        assert postings_of(payment) == [("lock", 20_000), ("unlock", 20_000)]


class TestMachine:
    def test_locked_money_is_what_was_created_and_is_not_over(self):
        over = {"completed", "failed", "returned", "canceled"}
        assert set(OPEN) == set(PaymentStatus.values) - over - {"waiting_for_funds"}
        assert set(COLUMN_OF) == set(PaymentStatus)

    def test_second_worker_changes_nothing(self, funded):
        payment = pay(funded)
        twin = Payment.objects.get(pk=payment.pk)
        submission.submit_due(PAYMENTS, now=NOW)

        with pytest.raises(IllegalTransition):
            lifecycle.move(payment=twin, target=PaymentStatus.PROCESSING, actor=SYSTEM, now=NOW)

        assert history_of(payment) == ["created", "processing"]
        assert events_of(payment) == ["payment.created", "payment.processing"]


class TestDatabase:
    """What no code can do, whatever its bugs."""

    @pytest.mark.parametrize(
        "change",
        [
            {"status": "returned"},  # not a move of the machine
            {"amount": 1},
            {"currency": "EUR"},
            {"method": "rtp"},
            {"network": "elsewhere"},
            {"status": "canceled"},  # not dated
            {"returned": True},
            {"held_at": NOW},
        ],
    )
    def test_refuses_changes_that_make_no_sense(self, funded, change):
        payment = pay(funded)

        with (
            owner.as_owner(),
            pytest.raises((IntegrityError, ProgrammingError)),
            transaction.atomic(),
        ):
            Payment.objects.filter(pk=payment.pk).update(**change)

    @pytest.mark.parametrize("model", [Payment, PaymentEvent, Recipient])
    def test_refuses_to_forget(self, funded, model):
        pay(funded)

        with owner.as_owner(), pytest.raises(ProgrammingError), transaction.atomic():
            model.objects.all()._raw_delete(using="default")

    def test_refuses_to_change_whom_was_paid(self, funded):
        payment = pay(funded)

        with owner.as_owner(), pytest.raises(ProgrammingError), transaction.atomic():
            Recipient.objects.filter(pk=payment.recipient_id).update(fingerprint="other")
        with owner.as_owner(), pytest.raises(ProgrammingError), transaction.atomic():
            PaymentEvent.objects.update(actor_id="nobody")
