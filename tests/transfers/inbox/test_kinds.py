"""Kinds of messages that nothing acts on yet are kept whole and put to a person."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import invariants
from common import database_clock
from networks.base import EventKind
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.networks.scripted import ScriptedNetwork, message
from tests.transfers.directions import DIRECTIONS
from transfers import submission
from transfers.inbox import arrivals, messages, reviews
from transfers.inbox.admin import _SAYS
from transfers.inbox.models import InboundEvent, InboundOutcome

UNHANDLED = [
    EventKind.RETURN_DISHONORED,
    EventKind.RETURN_CONTESTED,
    EventKind.RECEIVED,
]


@pytest.fixture(params=DIRECTIONS)
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture
def sent(acme, money):
    row = money.make(acme)
    submission.submit_due(money.transfer, now=NOW)
    return row


def report(money, row, kind, **said):
    network = ScriptedNetwork(message(row, kind, **said))
    arrivals.collect(network=network, id_prefix=money.transfer.id_prefix, now=NOW)
    messages.apply_new(money.transfer, now=NOW)
    return InboundEvent.objects.get()


@pytest.mark.parametrize("kind", UNHANDLED)
def test_of_a_transfer_move_nothing_and_wait_for_a_person(money, sent, kind):
    said = report(money, sent, kind, code="C01", reason="Other account number")

    assert (said.outcome, said.note) == (
        InboundOutcome.REVIEW,
        f"nothing acts on what is {kind}",
    )
    assert (said.kind, said.code, said.reason) == (kind, "C01", "Other account number")
    assert type(sent).objects.get(pk=sent.pk).status == money.sent
    with database_clock.at(NOW + timedelta(minutes=61)):
        found = {finding.code for finding in invariants.check(now=NOW).findings}
    assert f"{money.transfer.noun}_message_in_review" in found


def test_are_put_to_a_person_again_when_they_are_tried_again(money, sent):
    said = report(money, sent, EventKind.RETURN_CONTESTED)

    reviews.retry(event_id=said.pk, note="look", actor=SYSTEM, now=NOW)
    messages.apply_new(money.transfer, now=NOW)

    said.refresh_from_db()
    assert (said.outcome, said.attempts) == (InboundOutcome.REVIEW, 0)


def test_do_not_hold_up_what_moves_the_transfer(money, sent, set_size):
    report(money, sent, EventKind.RETURN_CONTESTED)

    final = ScriptedNetwork(message(sent, EventKind.FINAL, id="nev-2"))
    arrivals.collect(network=final, id_prefix=money.transfer.id_prefix, now=NOW)
    messages.apply_new(money.transfer, now=NOW)

    assert type(sent).objects.get(pk=sent.pk).status == money.completed


def test_about_nothing_of_ours_wait_for_a_person_too(db):
    unasked = message(type("Row", (), {"pk": "", "amount": 5_000}), EventKind.RECEIVED)
    arrivals.collect(network=ScriptedNetwork(unasked), id_prefix="", now=NOW)

    said = InboundEvent.objects.get()
    assert (said.outcome, said.note) == (InboundOutcome.REVIEW, arrivals.UNMATCHED)
    assert (said.kind, said.amount) == ("received", 5_000)


def test_a_return_proves_that_the_entry_was_accepted(money, sent):
    """No message said so. A top-up passes through transit, as its history tells."""
    report(money, sent, EventKind.RETURNED, code="R01")

    row = type(sent).objects.get(pk=sent.pk)
    assert (row.status, row.returned, row.return_code) == ("failed", True, "R01")
    assert getattr(row, "in_transit_at", NOW) is not None


def test_every_kind_has_its_words_for_staff():
    assert set(_SAYS) == set(EventKind)


@pytest.mark.parametrize(
    ("kind", "fits"), [(EventKind.REJECTED, True), (EventKind.RETURNED, False)]
)
def test_only_a_rejection_may_have_a_long_code(money, sent, kind, fits):
    said = arrivals.stored(message(sent, kind, code="withdrawn"), NOW)

    assert (said.note == "") is fits
    assert said.code == "withdrawn"
