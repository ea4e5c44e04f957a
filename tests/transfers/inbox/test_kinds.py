"""Kinds of messages that nothing acts on yet are kept whole and put to a person."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from balance import invariants
from common import database_clock
from networks.base import EventKind
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.networks.scripted import ScriptedNetwork, message
from tests.transfers.directions import DIRECTIONS
from transfers import submission
from transfers.inbox import arrivals, messages, reviews, telling
from transfers.inbox.admin import _SAYS
from transfers.inbox.models import InboundEvent, InboundOutcome

DISPUTES = [EventKind.RETURN_DISHONORED, EventKind.RETURN_CONTESTED]


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


def test_of_a_transfer_move_nothing_and_wait_for_a_person(money, sent):
    kind = EventKind.RECEIVED
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
    said = report(money, sent, EventKind.RECEIVED)

    reviews.retry(event_id=said.pk, note="look", actor=SYSTEM, now=NOW)
    messages.apply_new(money.transfer, now=NOW)

    said.refresh_from_db()
    assert (said.outcome, said.attempts) == (InboundOutcome.REVIEW, 0)


def test_do_not_hold_up_what_moves_the_transfer(money, sent, set_size):
    report(money, sent, EventKind.RECEIVED)

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


class TestDispute:
    """What the banks say to each other about a return; `test_dishonors` has its money."""

    @pytest.mark.parametrize("kind", DISPUTES)
    def test_leaves_the_transfer_as_its_return_left_it(self, money, sent, kind):
        hear(money, message(sent, EventKind.FINAL, id="nev-0"))
        hear(money, message(sent, EventKind.RETURNED, id="nev-1", code="R01"))
        before = type(sent).objects.get(pk=sent.pk)

        hear(money, message(sent, kind, id="nev-2", code="R69"))

        row = type(sent).objects.get(pk=sent.pk)
        assert (row.status, row.returned) == (before.status, True)
        assert (row.return_code, row.history_length) == ("R01", row.history.count())
        assert InboundEvent.objects.get(kind=kind).outcome == InboundOutcome.APPLIED
        assert [event.kind for event in telling.besides(row.pk)] == [kind]

    @pytest.mark.parametrize("kind", DISPUTES)
    def test_waits_for_the_return_and_at_last_for_a_person(self, money, sent, kind):
        said = hear(money, message(sent, kind, code="R69"))
        assert said.outcome == InboundOutcome.NEW

        messages.apply_new(money.transfer, now=NOW + timedelta(hours=2))
        said.refresh_from_db()
        assert said.outcome == InboundOutcome.REVIEW

        hear(money, message(sent, EventKind.RETURNED, id="nev-2", code="R01"))
        messages.apply_new(money.transfer, now=NOW)
        said.refresh_from_db()
        assert said.outcome == InboundOutcome.APPLIED


class TestRescheduled:
    FRIDAY = date(2026, 11, 20)

    def test_changes_the_day_that_the_tenant_is_promised(self, money, sent):
        said = hear(
            money, message(sent, EventKind.RESCHEDULED, settlement_date=self.FRIDAY), now=NOW
        )

        row = type(sent).objects.get(pk=sent.pk)
        promised = {"in": date(2026, 11, 24), "out": self.FRIDAY}[money.transfer.direction]
        assert getattr(row, money.transfer.expected_field) == promised
        assert (row.status, row.settlement_date) == (money.sent, None)
        assert said.outcome == InboundOutcome.APPLIED

    def test_after_the_end_promises_nobody_anything(self, money, sent):
        hear(money, message(sent, EventKind.RETURNED, id="nev-1", code="R01"))
        late = message(sent, EventKind.RESCHEDULED, id="nev-2", settlement_date=self.FRIDAY)

        assert hear(money, late).outcome == InboundOutcome.APPLIED
        assert type(sent).objects.get(pk=sent.pk).promised_date is None

    def test_without_a_day_waits_for_a_person(self, money, sent):
        assert hear(money, message(sent, EventKind.RESCHEDULED)).outcome == InboundOutcome.REVIEW

    def test_of_many_is_applied_together(self, acme, money, django_assert_max_num_queries):
        rows = [money.make(acme) for _ in range(6)]
        submission.submit_due(money.transfer, now=NOW)
        said = [
            message(row, EventKind.RESCHEDULED, id=f"nev-{row.pk}", settlement_date=self.FRIDAY)
            for row in rows
        ]
        network = ScriptedNetwork(*said)
        arrivals.collect(network=network, id_prefix=money.transfer.id_prefix, now=NOW)

        with django_assert_max_num_queries(25):
            assert messages.apply_new(money.transfer, now=NOW) == 6


def test_the_trace_of_an_entry_comes_with_its_acceptance(money, sent):
    hear(money, message(sent, EventKind.ACCEPTED, trace_number="091000010000007"))
    assert type(sent).objects.get(pk=sent.pk).trace_number == "091000010000007"


def test_the_trace_of_an_entry_comes_with_its_return_at_the_latest(money, sent):
    hear(money, message(sent, EventKind.RETURNED, code="R01", trace_number="091000010000007"))
    assert type(sent).objects.get(pk=sent.pk).trace_number == "091000010000007"


def hear(money, said, now=NOW):
    network = ScriptedNetwork(said)
    arrivals.collect(network=network, id_prefix=money.transfer.id_prefix, now=now)
    messages.apply_new(money.transfer, now=now)
    return InboundEvent.objects.get(event_id=said.id)
