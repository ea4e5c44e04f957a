from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings

from payments.models import Payment
from payments.services import orders, waiting
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, OutgoingEmail, Role
from tests.builders import NOW, make_member
from tests.payments.builders import events_of, fund, funds_of, pay, run_due, status_of
from transfers import holds, submission
from transfers.holds import NotHeld, NotHoldable, ReasonNeeded

DAY = timedelta(days=1)
WAITS = timedelta(days=settings.PAYMENT_WAIT_DAYS)
MONEY = {
    "amount": 10_000,
    "direction": "out",
    "bankName": "JPMorgan Chase",
    "last4": "6789",
}


@pytest.fixture
def payment(acme):
    fund(acme, 10_000)
    return pay(acme)


def hold(payment):
    holds.hold(PAYMENTS, payment.pk, reason="odd amount", actor=SYSTEM, now=NOW)


def release(payment, now=NOW):
    holds.release(PAYMENTS, payment.pk, reason="all right", actor=SYSTEM, now=now)


def stop(payment):
    holds.stop(PAYMENTS, payment.pk, reason="fraud", actor=SYSTEM, now=NOW)


def test_a_held_payment_is_not_sent_until_it_is_released(payment):
    hold(payment)
    assert submission.submit_due(PAYMENTS, now=NOW) == 0

    release(payment)
    run_due()

    assert status_of(payment) == "completed"


def test_both_can_be_repeated_and_are_audited_once(payment):
    hold(payment)
    hold(payment)
    for _ in range(2):
        release(payment)

    audited = AuditEvent.objects.filter(subject_id=payment.pk).order_by("created_at", "pk")
    assert [(event.action, event.staff_note, event.details) for event in audited] == [
        ("payment.held", "odd amount", MONEY),
        ("payment.released", "all right", MONEY),
    ]


def test_what_a_network_may_have_seen_cannot_be_held(payment):
    submission.submit_due(PAYMENTS, now=NOW)

    with pytest.raises(NotHoldable):
        hold(payment)

    assert Payment.objects.get(pk=payment.pk).held_at is None


def test_its_owner_can_still_cancel_it(acme, payment):
    hold(payment)

    orders.cancel(tenant_id=acme.pk, payment_id=payment.pk, actor=SYSTEM, now=NOW)

    assert status_of(payment) == "canceled"
    assert not Payment.objects.filter(held_at__isnull=False).exists()


def test_it_does_not_give_up_while_it_is_held(acme):
    payment = pay(acme, 500, wait=True)
    hold(payment)

    assert waiting.expire_due(now=NOW + WAITS + DAY) == 0


def test_after_its_release_it_waits_as_long_as_it_had_left(acme):
    payment = pay(acme, 500, wait=True)
    hold(payment)
    released = NOW + WAITS + DAY
    release(payment, now=released)
    end = released + WAITS

    assert waiting.expire_due(now=end - timedelta(seconds=1)) == 0
    assert waiting.expire_due(now=end) == 1
    assert status_of(payment) == "failed"


def test_money_that_came_meanwhile_pays_it_after_its_release(acme):
    payment = pay(acme, 500, wait=True)
    hold(payment)
    fund(acme, 500)
    released = NOW + WAITS + DAY

    release(payment, now=released)

    assert waiting.expire_due(now=released) == 0
    assert waiting.run_due(now=released) == 1
    assert status_of(payment) == "created"


def test_after_days_on_hold_it_says_anew_when_it_arrives(payment):
    hold(payment)
    release(payment, now=NOW + timedelta(days=14))

    payment.refresh_from_db()
    assert payment.expected_arrival_date > (NOW + timedelta(days=13)).date()


def test_stopped_for_good_it_fails_and_the_money_is_available_again(acme, payment):
    make_member(acme, email="dana@acme.example", role=Role.OWNER)
    hold(payment)

    stop(payment)

    payment.refresh_from_db()
    assert (payment.status, payment.failure_code) == ("failed", "stopped_by_review")
    assert (payment.held_at, funds_of(acme)) == (None, (10_000, 0))
    assert events_of(payment) == ["payment.created", "payment.failed"]
    assert "fraud" not in payment.failure_message
    assert AuditEvent.objects.get(action="payment.stopped").staff_note == "fraud"
    assert [mail.context["what"] for mail in OutgoingEmail.objects.order_by("pk")] == [
        "held",
        "stopped",
    ]
    with pytest.raises(NotHeld):
        stop(payment)


def test_nothing_is_stopped_that_is_not_held(payment):
    with pytest.raises(NotHeld):
        stop(payment)

    assert status_of(payment) == "created"


def test_a_reason_is_needed(payment):
    with pytest.raises(ReasonNeeded):
        holds.hold(PAYMENTS, payment.pk, reason=" ", actor=SYSTEM, now=NOW)
