"""Messages that are late, doubled, early, or about something else."""

from __future__ import annotations

import pytest

from balance import invariants
from networks.base import EventKind
from payments.services import waiting
from payments.transfer import PAYMENTS
from tests.builders import NOW
from tests.networks.scripted import ScriptedNetwork, message
from tests.payments.builders import fund, funds_of, pay, postings_of, status_of
from transfers import submission
from transfers.inbox import arrivals, messages
from transfers.inbox.models import InboundEvent, InboundOutcome

pytestmark = pytest.mark.usefixtures("set_size")


def deliver(*events, now=NOW):
    """Everything the network says at once; returns how many messages were applied."""
    arrivals.collect(network=ScriptedNetwork(*events), id_prefix=PAYMENTS.id_prefix, now=now)
    return messages.apply_new(PAYMENTS, now=now)


@pytest.fixture
def processing(acme):
    fund(acme, 10_000)
    payment = pay(acme, 10_000)
    submission.submit_due(PAYMENTS, now=NOW)
    return payment


def outcome(event_id):
    event = InboundEvent.objects.get(event_id=event_id)
    return event.outcome, event.note


def test_that_it_was_accepted_is_noted_and_changes_nothing(processing):
    assert deliver(message(processing, EventKind.ACCEPTED)) == 1

    assert status_of(processing) == "processing"
    assert outcome("nev-1") == (InboundOutcome.APPLIED, "")


def test_a_settlement_and_the_return_after_it_are_applied_in_their_order(processing):
    settled = message(processing, EventKind.FINAL, id="settled")
    returned = message(processing, EventKind.RETURNED, id="returned", code="R02")

    assert deliver(settled, returned) == 2

    assert status_of(processing) == "returned"
    assert [type for type, _ in postings_of(processing)] == ["lock", "settlement", "credit"]


def test_the_same_message_twice_settles_once(acme, processing):
    settled = message(processing, EventKind.FINAL)

    assert [deliver(settled), deliver(settled)] == [1, 0]

    assert funds_of(acme) == (0, 0)


@pytest.mark.parametrize("kind", [EventKind.ACCEPTED, EventKind.FINAL, EventKind.REJECTED])
def test_what_comes_after_the_end_is_kept_for_review(acme, processing, kind):
    deliver(message(processing, EventKind.REJECTED, id="first", code="AC04"))

    assert deliver(message(processing, kind, id="late")) == 0

    assert outcome("late") == (InboundOutcome.REVIEW, 'payment is "failed"')
    assert funds_of(acme) == (10_000, 0)


def test_a_payment_that_nobody_sent_cannot_be_settled(acme):
    fund(acme, 100)
    payment = pay(acme, 500, wait=True)

    assert deliver(message(payment, EventKind.FINAL)) == 0

    assert outcome("nev-1") == (InboundOutcome.REVIEW, 'payment is "waiting for money"')
    assert funds_of(acme) == (100, 0)


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"amount": 999_999}, "another amount or currency"),
        ({"instruction_id": "pay_00000000000000000000000000"}, "no such payment"),
        ({"network": "elsewhere"}, "another network's payment"),
    ],
)
def test_a_message_that_cannot_be_right_changes_nothing(processing, changes, note):
    assert deliver(message(processing, EventKind.FINAL, **changes)) == 0

    assert outcome("nev-1") == (InboundOutcome.REVIEW, note)
    assert status_of(processing) == "processing"


def test_an_acceptance_that_comes_after_the_settlement_is_noted(processing):
    deliver(message(processing, EventKind.FINAL, id="settled"))

    assert deliver(message(processing, EventKind.ACCEPTED, id="late")) == 1

    assert outcome("late") == (InboundOutcome.APPLIED, messages.KNOWN_BEFORE)
    assert status_of(processing) == "completed"


def test_what_its_status_kept_for_a_person_is_looked_at_again_when_it_moves(acme):
    """A settlement that came while the payment waited for money, which is then sent."""
    payment = pay(acme, 500, wait=True)
    deliver(message(payment, EventKind.FINAL))
    assert outcome("nev-1") == (InboundOutcome.REVIEW, 'payment is "waiting for money"')
    (finding,) = invariants.check(now=NOW).findings
    assert (finding.code, finding.subject) == ("payment_message_in_review", payment.pk)
    fund(acme, 500)
    waiting.run(tenant_id=acme.pk, now=NOW)
    assert messages.apply_new(PAYMENTS, now=NOW) == 0

    submission.submit_due(PAYMENTS, now=NOW)

    assert messages.apply_new(PAYMENTS, now=NOW) == 1
    assert status_of(payment) == "completed"
    # The message was made up by the test, and the bank's own books say so.
    (finding,) = invariants.check(now=NOW, full=True).findings
    assert (finding.code, finding.message) == ("payment_bank", "the network has not settled it")
