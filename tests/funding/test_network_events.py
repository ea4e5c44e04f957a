"""Messages that are late, doubled, early, or about something else."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from balance import invariants
from balance import selectors as ledger
from common import leases
from common.clock import utc_now
from funding.models import FundingEvent, FundingTransaction
from funding.services import topups
from funding.states import FundingStatus
from funding.transfer import FUNDING, FundingTransfer
from networks.base import EventKind
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.funding.builders import run_due, top_up
from tests.networks.scripted import ScriptedNetwork, message
from transfers import submission
from transfers.inbox import arrivals, judging, messages
from transfers.inbox.models import InboundEvent, InboundOutcome
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.usefixtures("set_size")


def deliver(*events, now=NOW):
    for event in events:
        arrivals.collect(network=ScriptedNetwork(event), id_prefix=FUNDING.id_prefix, now=now)
    return messages.apply_new(FUNDING, now=now)


@pytest.fixture
def in_transit(acme):
    funding = top_up(acme)
    submission.submit_due(FUNDING, now=NOW)
    deliver(message(funding, EventKind.ACCEPTED, id="accepted"))
    funding.refresh_from_db()
    assert funding.status == FundingStatus.IN_TRANSIT
    return funding


def test_the_same_message_is_stored_and_applied_once(in_transit):
    settled = message(in_transit, EventKind.FINAL)

    assert [deliver(settled), deliver(settled)] == [1, 0]

    assert ledger.summary(in_transit.tenant_id).available == in_transit.amount


def test_a_second_settlement_under_another_id_is_kept_for_review(in_transit):
    deliver(message(in_transit, EventKind.FINAL, id="first"))

    assert deliver(message(in_transit, EventKind.FINAL, id="second")) == 0

    assert InboundEvent.objects.get(event_id="second").outcome == InboundOutcome.REVIEW
    assert ledger.summary(in_transit.tenant_id).available == in_transit.amount


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"amount": 999_999}, "another amount or currency"),
        ({"currency": "EUR"}, "another amount or currency"),
        ({"instruction_id": "ftx_00000000000000000000000000"}, "no such funding"),
        ({"network": "elsewhere"}, "another network's funding"),
    ],
)
def test_a_message_that_cannot_be_right_changes_nothing(in_transit, changes, note):
    assert deliver(message(in_transit, EventKind.FINAL, **changes)) == 0

    event = InboundEvent.objects.get(event_id="nev-1")
    assert (event.outcome, event.note) == (InboundOutcome.REVIEW, note)
    in_transit.refresh_from_db()
    assert in_transit.status == FundingStatus.IN_TRANSIT


def test_a_message_that_came_too_early_waits_for_its_turn(acme):
    funding = top_up(acme)
    deliver(message(funding, EventKind.FINAL, id="settled"))
    assert InboundEvent.objects.get(event_id="settled").outcome == InboundOutcome.NEW

    run_due()

    funding.refresh_from_db()
    assert funding.status == FundingStatus.COMPLETED
    assert ledger.summary(acme.pk).available == funding.amount


def test_a_message_that_waited_an_hour_goes_to_a_person(acme):
    funding = top_up(acme)
    deliver(message(funding, EventKind.FINAL))

    messages.apply_new(FUNDING, now=NOW + judging.WAITS_AT_MOST)

    event = InboundEvent.objects.get()
    assert (event.outcome, event.note) == (InboundOutcome.REVIEW, 'funding is "reserved"')


def test_a_message_waits_as_long_as_the_answer_to_the_submission_is_unknown(acme):
    """The bank took it, the worker died before it could say so, and staff stopped submissions."""
    funding = top_up(acme)
    leases.claim(FundingTransaction.objects.all(), now=NOW, limit=1)
    deliver(message(funding, EventKind.ACCEPTED, id="accepted"))
    deliver(message(funding, EventKind.FINAL, id="settled"))
    released = NOW + 2 * judging.WAITS_AT_MOST
    messages.apply_new(FUNDING, now=released)

    submission.submit_due(FUNDING, now=released)
    messages.apply_new(FUNDING, now=released)

    funding.refresh_from_db()
    assert funding.status == FundingStatus.COMPLETED
    assert ledger.summary(acme.pk).available == funding.amount


def test_messages_that_came_in_the_wrong_order_are_sorted_out_after_a_long_stop(acme):
    funding = top_up(acme)
    submission.submit_due(FUNDING, now=NOW)
    deliver(message(funding, EventKind.FINAL, id="settled"))

    later = NOW + 2 * judging.WAITS_AT_MOST
    deliver(message(funding, EventKind.ACCEPTED, id="accepted"), now=later)
    messages.apply_new(FUNDING, now=later)

    funding.refresh_from_db()
    assert funding.status == FundingStatus.COMPLETED


def test_nothing_moves_a_funding_nobody_approved(acme):
    funding = top_up(acme)
    deliver(message(funding, EventKind.REJECTED, code="AC03"), now=NOW)

    funding.refresh_from_db()
    assert funding.status == FundingStatus.RESERVED


def test_one_message_we_cannot_digest_does_not_hold_up_the_others(in_transit, acme):
    other = top_up(acme, source=in_transit.source)
    submission.submit_due(FUNDING, now=NOW)
    for id, row, kind in (
        ("broken", in_transit, EventKind.FINAL),
        ("fine", other, EventKind.ACCEPTED),
    ):
        network = ScriptedNetwork(message(row, kind, id=id))
        arrivals.collect(network=network, id_prefix=FUNDING.id_prefix, now=NOW)

    class Broken(FundingTransfer):
        def apply(self, effects, now):
            super().apply(effects, now)
            if "broken" in {effect.event.event_id for effect in effects}:
                raise RuntimeError("a bug")

    messages.apply_new(Broken(), now=NOW)

    assert InboundEvent.objects.get(event_id="fine").outcome == InboundOutcome.APPLIED
    assert InboundEvent.objects.get(event_id="broken").outcome == InboundOutcome.NEW


def test_messages_are_acknowledged_only_after_they_are_stored(in_transit):
    network = ScriptedNetwork(message(in_transit, EventKind.FINAL))

    arrivals.collect(network=network, id_prefix=FUNDING.id_prefix, now=NOW)

    assert network.acknowledged == ["nev-1"]
    assert InboundEvent.objects.filter(event_id="nev-1").count() == 1


class TestWhatABankNeverSaidItAccepted:
    @pytest.fixture
    def pending(self, acme):
        funding = top_up(acme)
        submission.submit_due(FUNDING, now=NOW)
        return funding

    @pytest.fixture(autouse=True)
    def books_balance(self, pending):
        """But for the bank's own books: it never settled what these messages say."""
        yield
        found = invariants.check(now=NOW, full=True).findings
        assert [finding for finding in found if finding.code != "funding_bank"] == []

    def test_is_accepted_and_completed_by_its_settlement(self, acme, pending):
        assert deliver(message(pending, EventKind.FINAL)) == 1

        assert steps_of(pending) == [
            ("reserved", ""),
            ("pending", ""),
            ("in_transit", "implied by final"),
            ("completed", ""),
        ]
        funds = ledger.summary(acme.pk)
        assert (funds.available, funds.pending) == (pending.amount, 0)
        pending.refresh_from_db()
        assert pending.in_transit_at == pending.completed_at == NOW
        types = WebhookEvent.objects.filter(payment_id=pending.pk).values_list("type", flat=True)
        assert sorted(types) == ["payment.completed", "payment.created", "payment.processing"]

    def test_is_accepted_and_ended_by_its_return(self, acme, pending):
        assert deliver(message(pending, EventKind.RETURNED, code="R01")) == 1

        assert [status for status, _ in steps_of(pending)][-2:] == ["in_transit", "failed"]
        pending.refresh_from_db()
        assert (pending.returned, pending.return_code) == (True, "R01")
        assert ledger.summary(acme.pk).pending == 0

    def test_waits_for_an_acceptance_that_came_before_and_is_in_hand(self, acme, pending):
        deliver(message(pending, EventKind.ACCEPTED, id="accepted"))
        deliver(message(pending, EventKind.FINAL, id="settled"))

        assert [reason for _, reason in steps_of(pending)] == ["", "", "", ""]

    def test_notes_an_acceptance_that_comes_later_once(self, pending):
        deliver(message(pending, EventKind.FINAL, id="settled"))

        assert deliver(message(pending, EventKind.ACCEPTED, id="late")) == 1
        assert deliver(message(pending, EventKind.ACCEPTED, id="later")) == 0

        rows = InboundEvent.objects.order_by("pk").values_list("event_id", "outcome", "note")
        assert list(rows)[1:] == [
            ("late", "applied", messages.KNOWN_BEFORE),
            ("later", "review", 'funding is "completed"'),
        ]
        assert len(steps_of(pending)) == 4


class TestWhatWaitsForAPerson:
    @pytest.fixture
    def reserved(self, acme):
        """A funding whose settlement came before it was sent, and waited its hour."""
        funding = top_up(acme)
        deliver(message(funding, EventKind.FINAL), now=NOW)
        messages.apply_new(FUNDING, now=NOW + judging.WAITS_AT_MOST)
        event = InboundEvent.objects.get()
        assert (event.outcome, event.note) == ("review", 'funding is "reserved"')
        return funding

    def test_is_looked_at_again_when_the_row_moves(self, acme, reserved):
        later = NOW + 2 * judging.WAITS_AT_MOST
        submission.submit_due(FUNDING, now=later)

        assert messages.apply_new(FUNDING, now=later) == 1

        reserved.refresh_from_db()
        assert reserved.status == FundingStatus.COMPLETED
        assert ledger.summary(acme.pk).available == reserved.amount
        assert InboundEvent.objects.get().outcome == InboundOutcome.APPLIED

    @pytest.mark.parametrize(
        "changes", [{"amount": 999_999}, {"network": "elsewhere"}, {"currency": "EUR"}]
    )
    def test_for_another_reason_than_the_status_stays_there(self, acme, changes):
        funding = top_up(acme)
        deliver(message(funding, EventKind.FINAL, **changes))

        submission.submit_due(FUNDING, now=NOW)

        assert InboundEvent.objects.get().outcome == InboundOutcome.REVIEW

    def test_is_a_finding_after_an_hour_while_the_row_is_not_over(self, reserved):
        (finding,) = invariants.check(now=NOW).findings
        assert (finding.code, finding.tenant_id, finding.subject) == (
            "funding_message_in_review",
            reserved.tenant_id,
            reserved.pk,
        )
        assert "is reserved, and final nev-1 waits" in finding.message
        assert invariants.check(now=NOW, full=True, tenant_id=reserved.tenant_id).findings

        InboundEvent.objects.update(decided_at=utc_now() - timedelta(minutes=59))
        assert invariants.check(now=NOW).findings == []

    def test_is_no_finding_once_the_row_is_over(self, reserved):
        topups.cancel(tenant_id=reserved.tenant_id, funding_id=reserved.pk, actor=SYSTEM, now=NOW)
        messages.apply_new(FUNDING, now=NOW + judging.WAITS_AT_MOST)

        assert InboundEvent.objects.get().note == 'funding is "failed"'
        assert invariants.check(now=NOW).findings == []


def steps_of(funding):
    """(status, reason) of each step of its history."""
    rows = FundingEvent.objects.filter(funding=funding).order_by("sequence")
    return list(rows.values_list("to_status", "reason"))


class TestTheDayOnWhichMoneyMoved:
    DAY = date(2026, 3, 6)

    def test_is_noted_and_completes_nothing(self, acme, in_transit):
        settled = message(in_transit, EventKind.SETTLED, settlement_date=self.DAY)

        assert [deliver(settled), deliver(settled)] == [1, 0]

        in_transit.refresh_from_db()
        assert (in_transit.status, in_transit.settlement_date) == ("in_transit", self.DAY)
        assert ledger.summary(acme.pk).available == 0

    def test_implies_that_the_network_accepted_it(self, acme):
        pending = top_up(acme)
        submission.submit_due(FUNDING, now=NOW)

        deliver(message(pending, EventKind.SETTLED, settlement_date=self.DAY))

        pending.refresh_from_db()
        assert (pending.status, pending.settlement_date) == ("in_transit", self.DAY)

    def test_may_be_told_after_the_money_is_final(self, in_transit):
        deliver(message(in_transit, EventKind.FINAL, id="final"))
        deliver(message(in_transit, EventKind.SETTLED, id="late", settlement_date=self.DAY))

        in_transit.refresh_from_db()
        assert (in_transit.status, in_transit.settlement_date) == ("completed", self.DAY)

    def test_is_needed(self, in_transit):
        assert deliver(message(in_transit, EventKind.SETTLED)) == 0

        event = InboundEvent.objects.get(event_id="nev-1")
        assert (event.outcome, event.note) == ("review", "does not fit: settlement_date")

    def test_was_not_told_by_the_word_of_an_earlier_release(self, acme, in_transit):
        """Then "settled" stood for what is final."""
        event = arrivals.stored(message(in_transit, EventKind.FINAL), NOW)
        event.kind = "settled"
        event.save()

        assert messages.apply_new(FUNDING, now=NOW) == 1

        in_transit.refresh_from_db()
        assert (in_transit.status, in_transit.settlement_date) == ("completed", None)
        found = {finding.code for finding in invariants.check(now=NOW, full=True).findings}
        assert found <= {"funding_bank"}, "the sandbox bank has not settled it"
