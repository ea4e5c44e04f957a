"""Staff ask a network to give back what it has not sent yet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from balance import invariants
from balance import selectors as ledger
from networks.base import NetworkUnavailable
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxEvent
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tests.builders import NOW
from tests.database import owner
from tests.transfers.directions import DIRECTIONS
from transfers import holds, submission
from transfers.holds import NotWithdrawable, ReasonNeeded, TooLateToWithdraw, WithdrawalUnanswered
from transfers.inbox import messages

LATER = NOW + timedelta(minutes=1)
STAFF: dict[str, Any] = {"reason": "a wrong amount", "actor": SYSTEM, "now": NOW}


@pytest.fixture(params=DIRECTIONS)
def money(request, settings):
    settings.SANDBOX_PACE = "seconds"
    return DIRECTIONS[request.param]


@pytest.fixture
def sent(acme, money):
    row = money.make(acme)
    submission.submit_due(money.transfer, now=NOW)
    return row


def read(row):
    return type(row).objects.get(pk=row.pk)


def withdraw(money, row, **changes):
    holds.withdraw(money.transfer, row.pk, **STAFF | changes)


def asked(row):
    lines = AuditEvent.objects.filter(subject_id=row.pk, action__endswith=".withdrawal_asked")
    return [(line.actor_type, line.staff_note, line.tenant_id) for line in lines]


def test_what_has_not_left_fails_when_its_network_says_so(acme, money, sent):
    before = ledger.summary(acme.pk)

    withdraw(money, sent)

    assert read(sent).status == money.sent
    assert messages.process(money.transfer, now=NOW) == 1
    row = read(sent)
    assert (row.status, row.failure_code) == ("failed", "withdrawn")
    assert row.failure_message.startswith("We took it back before it was sent.")
    assert not row.returned
    assert asked(row) == [("system", STAFF["reason"], acme.pk)]
    after = ledger.summary(acme.pk)
    if money is DIRECTIONS["out"]:
        assert after.available == before.available + row.amount
    else:
        assert (after.available, after.pending) == (before.available, before.pending - row.amount)
    assert invariants.check(now=NOW, full=True).findings == []


def test_the_account_stays_usable(acme, money, sent):
    withdraw(money, sent)
    messages.process(money.transfer, now=NOW)

    again = money.make(acme)
    submission.submit_due(money.transfer, now=NOW)

    assert read(again).status == money.sent


def test_staff_are_told_when_it_is_too_late_and_nothing_changes(acme, money, sent):
    with pytest.raises(TooLateToWithdraw):
        withdraw(money, sent, now=LATER)

    messages.process(money.transfer, now=LATER)
    assert read(sent).status == money.completed


def test_asking_twice_does_no_harm(money, sent):
    withdraw(money, sent)
    withdraw(money, sent)

    assert messages.process(money.transfer, now=NOW) == 1
    assert read(sent).status == "failed"


def test_what_the_network_does_not_have_is_not_withdrawn(acme, money):
    row = money.make(acme)

    with pytest.raises(NotWithdrawable, match="It is"):
        withdraw(money, row)

    assert asked(row) == []


def test_nor_what_is_over(money, sent):
    messages.process(money.transfer, now=LATER)

    with pytest.raises(NotWithdrawable, match="It is completed"):
        withdraw(money, sent)


def test_it_needs_a_reason(money, sent):
    with pytest.raises(ReasonNeeded):
        withdraw(money, sent, reason=" ")

    assert SandboxEvent.objects.filter(code="withdrawn").count() == 0


def test_a_lost_answer_is_told_and_the_message_says_what_became_of_it(acme, money, sent, connect):
    class Mute(SandboxBank):
        def withdraw(self, instruction_id, *, now):
            super().withdraw(instruction_id, now=now)
            raise NetworkUnavailable("the answer is lost")

    connect(Mute())
    with pytest.raises(WithdrawalUnanswered):
        withdraw(money, sent)
    assert asked(sent) == [("system", STAFF["reason"], acme.pk)]

    messages.process(money.transfer, now=NOW)
    assert read(sent).status == "failed"


def test_a_network_that_is_gone_gives_no_answer(money, sent):
    with owner.as_superuser(triggers=False):
        type(sent).objects.filter(pk=sent.pk).update(network="gone")

    with pytest.raises(WithdrawalUnanswered):
        withdraw(money, sent)
