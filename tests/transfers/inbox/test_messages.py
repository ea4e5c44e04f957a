"""A message that always breaks, or always waits, ends with a person and stops nobody."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError

from funding.transfer import FUNDING, FundingTransfer
from networks.base import EventKind
from tests.builders import NOW
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message
from transfers import submission
from transfers.inbox import arrivals, messages
from transfers.inbox.models import InboundEvent, InboundOutcome

pytestmark = pytest.mark.usefixtures("set_size")


class Breaking(FundingTransfer):
    def apply(self, effects, now):
        raise ZeroDivisionError


class Interrupted(FundingTransfer):
    def apply(self, effects, now):
        raise OperationalError


def store(*events, now=NOW):
    arrivals.collect(network=ScriptedNetwork(*events), id_prefix="ftx_", now=now)


@pytest.fixture
def pending(acme):
    funding = top_up(acme)
    submission.submit_due(FUNDING, now=NOW)
    return funding


def test_what_breaks_is_tried_later_and_later_and_then_goes_to_a_person(pending):
    store(message(pending, EventKind.ACCEPTED))
    broken, now, waits = Breaking(), NOW, []

    for _ in messages.RETRY_AFTER:
        messages.apply_new(broken, now=now)
        event = InboundEvent.objects.get()
        assert event.next_attempt_at is not None
        waits.append(event.next_attempt_at - now)
        assert messages.apply_new(FUNDING, now=event.next_attempt_at - timedelta(seconds=1)) == 0
        now = event.next_attempt_at
    assert messages.apply_new(broken, now=now) == 0

    event.refresh_from_db()
    assert waits == list(messages.RETRY_AFTER)
    assert (event.outcome, event.note) == (
        InboundOutcome.REVIEW,
        "could not be applied, 6 tries: ZeroDivisionError",
    )
    assert (event.attempts, event.next_attempt_at, event.decided_at) == (6, None, now)


def test_the_databases_trouble_is_not_held_against_a_message(pending):
    store(message(pending, EventKind.ACCEPTED))

    messages.apply_new(Interrupted(), now=NOW)

    assert InboundEvent.objects.get().attempts == 0
    assert messages.apply_new(FUNDING, now=NOW) == 1


def test_messages_that_wait_let_the_others_pass(acme, pending):
    reserved = [top_up(acme, source=pending.source) for _ in range(3)]
    early = [message(row, EventKind.FINAL, id=f"early-{row.pk}") for row in reserved]
    store(*early, message(pending, EventKind.ACCEPTED, id="fine"))
    later = NOW + timedelta(seconds=1)

    assert [messages.apply_new(FUNDING, now=later, limit=3) for _ in range(2)] == [0, 1]

    assert InboundEvent.objects.get(event_id="fine").outcome == InboundOutcome.APPLIED
