"""What the sandbox bank has said nothing about, it gives back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from networks.base import EventKind, Withdrawal
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxEvent
from tests.builders import NOW
from tests.networks.asking import submit
from tests.networks.sandbox.builders import instruction

bank = SandboxBank()
ID = instruction().id
SECOND = timedelta(seconds=1)
WITHDRAWN, TOO_LATE = Withdrawal.WITHDRAWN, Withdrawal.TOO_LATE

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def slow_bank(settings):
    settings.SANDBOX_PACE = "seconds"


def told(now):
    return [(event.kind, event.code) for event in bank.poll(now=now, limit=9)]


def test_what_is_withdrawn_is_rejected_and_nothing_else_is_ever_said_of_it():
    receipt = submit(bank, instruction(), now=NOW)

    assert bank.withdraw(ID, now=NOW) is WITHDRAWN

    assert told(NOW + timedelta(days=90)) == [(EventKind.REJECTED, "withdrawn")]
    (event,) = bank.poll(now=NOW, limit=9)
    assert (event.instruction_id, event.amount) == (ID, 25_000)
    assert event.reason == "Withdrawn before it was sent"
    assert bank.find(ID) == receipt
    (record,) = bank.records([ID])
    assert (record.is_final, record.is_returned) == (False, False)


def test_asked_again_it_answers_the_same_and_says_it_once():
    submit(bank, instruction(), now=NOW)
    later = NOW + timedelta(days=1)

    assert [bank.withdraw(ID, now=now) for now in (NOW, NOW, later)] == [WITHDRAWN] * 3
    bank.acknowledge([SandboxEvent.objects.get().pk])
    assert bank.withdraw(ID, now=later) is WITHDRAWN

    assert told(later) == []


def test_a_repeat_of_what_was_withdrawn_gets_its_receipt_and_moves_nothing():
    receipt = submit(bank, instruction(), now=NOW)
    bank.withdraw(ID, now=NOW)

    assert submit(bank, instruction(), now=NOW) == receipt
    assert told(NOW + timedelta(days=9)) == [(EventKind.REJECTED, "withdrawn")]


@pytest.mark.parametrize("acknowledged", [False, True])
def test_it_is_too_late_once_something_was_said(acknowledged):
    submit(bank, instruction(), now=NOW)
    (event,) = bank.poll(now=NOW + SECOND, limit=9)
    if acknowledged:
        bank.acknowledge([event.id])

    # One who asks with a clock that is behind is told so, too, if we heard of it already.
    asked_at = NOW if acknowledged else NOW + SECOND
    assert bank.withdraw(ID, now=asked_at) is TOO_LATE

    kinds = [EventKind.ACCEPTED, EventKind.FINAL]
    assert [kind for kind, _ in told(NOW + 9 * SECOND)] == kinds[acknowledged:]


def test_what_stays_pending_for_ever_can_be_withdrawn_at_any_time():
    submit(bank, instruction("30001"), now=NOW)

    assert bank.withdraw(ID, now=NOW + timedelta(days=30)) is WITHDRAWN


def test_it_is_too_late_for_what_the_bank_does_not_have():
    class Second(SandboxBank):
        name = "second"

    assert bank.withdraw(ID, now=NOW) is TOO_LATE
    submit(bank, instruction(), now=NOW)
    assert Second().withdraw(ID, now=NOW) is TOO_LATE

    assert told(NOW + SECOND) == [(EventKind.ACCEPTED, "")]


def test_what_never_arrived_can_still_arrive():
    with pytest.raises(Exception, match="does not answer"):
        submit(bank, instruction("30002"), now=NOW)

    assert bank.withdraw(ID, now=NOW) is TOO_LATE
