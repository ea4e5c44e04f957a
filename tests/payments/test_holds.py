from __future__ import annotations

import pytest

from payments.errors import NotHoldable
from payments.models import Payment
from payments.services import holds, orders, submission
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tests.builders import NOW
from tests.payments.builders import fund, pay, run_due, status_of


@pytest.fixture
def payment(acme):
    fund(acme, 10_000)
    return pay(acme)


def hold(payment):
    holds.hold(payment_id=payment.pk, reason="odd amount", actor=SYSTEM, now=NOW)


def test_a_held_payment_is_not_sent_until_it_is_released(payment):
    hold(payment)
    assert submission.submit_due(now=NOW) == 0

    holds.release(payment_id=payment.pk, actor=SYSTEM, now=NOW)
    run_due()

    assert status_of(payment) == "completed"


def test_both_can_be_repeated_and_are_audited_once(payment):
    hold(payment)
    hold(payment)
    for _ in range(2):
        holds.release(payment_id=payment.pk, actor=SYSTEM, now=NOW)

    audited = AuditEvent.objects.filter(subject_id=payment.pk).order_by("created_at", "pk")
    assert [(event.action, event.details) for event in audited] == [
        ("payment.held", {"reason": "odd amount"}),
        ("payment.released", {}),
    ]


def test_what_a_network_may_have_seen_cannot_be_held(payment):
    submission.submit_due(now=NOW)

    with pytest.raises(NotHoldable):
        hold(payment)

    assert Payment.objects.get(pk=payment.pk).held_at is None


def test_its_owner_can_still_cancel_it(acme, payment):
    hold(payment)

    orders.cancel(tenant_id=acme.pk, payment_id=payment.pk, actor=SYSTEM, now=NOW)

    assert status_of(payment) == "canceled"
