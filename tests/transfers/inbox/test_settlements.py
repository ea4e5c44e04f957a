"""Two people settle by hand what a bank confirms and its network never says."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse

from balance import invariants
from balance import selectors as ledger
from common import leases
from common.database_clock import database_now
from funding.models import FundingEvent, FundingTransaction
from funding.transfer import FUNDING
from networks.base import EventKind, NetworkUnavailable
from payments.models import PaymentEvent
from payments.transfer import PAYMENTS
from tenants import actors
from tenants.models import AuditEvent
from tests.builders import NOW, browser_of, make_staff
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message
from tests.payments.builders import fund, funds_of, pay, status_of
from transfers import submission
from transfers.inbox import arrivals, messages, reviews, settlements
from transfers.inbox.models import BankOutcome, HandSettlement, InboundEvent
from transfers.inbox.settlements import SettlementRefused

pytestmark = pytest.mark.usefixtures("set_size")


@pytest.fixture
def ada(db):
    return make_staff("ada@ballast.example")


@pytest.fixture
def ben(db):
    return make_staff("ben@ballast.example")


@pytest.fixture
def pending(acme):
    funding = top_up(acme)
    submission.submit_due(FUNDING, now=NOW)
    return funding


@pytest.fixture(autouse=True)
def books_balance(db):
    yield
    assert invariants.check(now=NOW, full=True).findings == []


def propose(row, who, kind=BankOutcome.SETTLED, **changes):
    terms = {
        "subject_id": row.pk,
        "kind": kind,
        "amount": row.amount,
        "bank_reference": "FED-77",
        "code": "" if kind == BankOutcome.SETTLED else "R01",
        "reason": "On the statement of Friday",
        "actor": actors.staff(who.pk),
        "now": NOW,
    }
    return settlements.propose(**(terms | changes))


def approve(proposal, who):
    actor = actors.staff(who.pk)
    return settlements.approve(proposal_id=proposal.pk, note="Seen, too", actor=actor, now=NOW)


def said(row, kind, **changes):
    event = message(row, kind, **changes)
    arrivals.collect(network=ScriptedNetwork(event), id_prefix=row.pk[:4], now=NOW)


def refused(act, *arguments, **changes):
    with pytest.raises(SettlementRefused) as refusal:
        act(*arguments, **changes)
    return refusal.value.detail


class TestFunding:
    def test_is_completed_with_the_reference_of_the_bank(self, acme, pending, ada, ben):
        approve(propose(pending, ada), ben)

        pending.refresh_from_db()
        funds = ledger.summary(acme.pk)
        assert (pending.status, funds.available, funds.pending) == ("completed", 25_000, 0)
        steps = FundingEvent.objects.filter(funding=pending).order_by("sequence")
        assert list(steps.values_list("to_status", "actor_type", "actor_id"))[2:] == [
            ("in_transit", "staff", ben.pk),
            ("completed", "staff", ben.pk),
        ]
        assert steps.latest("sequence").reason == "by hand, bank reference FED-77"
        event = InboundEvent.objects.get()
        assert (event.outcome, event.by_hand, event.reference) == ("applied", ben.pk, "FED-77")
        assert HandSettlement.objects.get().event == event
        actions = AuditEvent.objects.filter(action__startswith="settlement.").order_by("created_at")
        assert sorted(actions.values_list("action", flat=True)) == [
            "settlement.approved",
            "settlement.proposed",
        ]

    def test_is_returned_with_the_code_of_the_bank(self, acme, pending, ada, ben):
        approve(propose(pending, ada, BankOutcome.RETURNED), ben)

        pending.refresh_from_db()
        assert (pending.status, pending.return_code, pending.returned) == ("failed", "R01", True)
        assert ledger.summary(acme.pk).pending == 0

    def test_what_the_network_says_afterwards_moves_nothing_twice(self, acme, pending, ada, ben):
        approve(propose(pending, ada), ben)
        said(pending, EventKind.FINAL, id="late")
        said(pending, EventKind.FINAL, id="later")

        messages.apply_new(FUNDING, now=NOW)

        outcomes = dict(InboundEvent.objects.values_list("event_id", "outcome"))
        assert (outcomes["late"], outcomes["later"]) == ("applied", "review")
        assert ledger.summary(acme.pk).available == 25_000


class SilentNetwork(ScriptedNetwork):
    """It takes the instruction, and its answers are lost."""

    def __init__(self):
        super().__init__()
        self.asked = 0

    def submit_many(self, instructions, *, now):
        self.asked += 1
        raise NetworkUnavailable("no answer")

    def find(self, instruction_id):
        self.asked += 1
        raise NetworkUnavailable("no answer")


class TestWhatWasNeverAnswered:
    @pytest.fixture
    def network(self, connect):
        return connect(SilentNetwork())

    @pytest.fixture
    def unanswered(self, acme, network):
        funding = top_up(acme)
        for minutes in range(0, 80, 11):
            submission.submit_due(FUNDING, now=NOW + timedelta(minutes=minutes))
        funding.refresh_from_db()
        assert (funding.status, funding.attempts > 5) == ("reserved", True)
        return funding

    def test_is_completed_and_never_sent_again(self, acme, network, unanswered, ada, ben):
        asked = network.asked

        approve(propose(unanswered, ada), ben)

        submission.submit_due(FUNDING, now=NOW + timedelta(days=1))
        unanswered.refresh_from_db()
        funds = ledger.summary(acme.pk)
        assert (unanswered.status, funds.available, funds.pending) == ("completed", 25_000, 0)
        assert (network.asked, unanswered.next_attempt_at) == (asked, None)

    def test_is_rejected_and_its_pending_is_gone(self, acme, unanswered, ada, ben):
        approve(propose(unanswered, ada, BankOutcome.REJECTED), ben)

        unanswered.refresh_from_db()
        assert (unanswered.status, ledger.summary(acme.pk).pending) == ("failed", 0)

    def test_notes_the_message_that_waited_for_the_answer(self, acme, unanswered, ada, ben):
        said(unanswered, EventKind.FINAL)
        assert messages.apply_new(FUNDING, now=NOW) == 0

        approve(propose(unanswered, ada), ben)
        messages.apply_new(FUNDING, now=NOW)

        assert InboundEvent.objects.get(event_id="nev-1").outcome == "applied"
        assert ledger.summary(acme.pk).available == 25_000

    def test_a_return_that_waits_with_the_settlement_follows_it(self, acme, unanswered, ada, ben):
        said(unanswered, EventKind.FINAL)
        said(unanswered, EventKind.RETURNED, id="nev-2", code="R01")

        approve(propose(unanswered, ada), ben)
        assert ledger.summary(acme.pk).available == 25_000
        messages.apply_new(FUNDING, now=NOW)

        unanswered.refresh_from_db()
        assert (unanswered.status, unanswered.return_code) == ("failed", "R01")
        assert set(InboundEvent.objects.values_list("outcome", flat=True)) == {"applied"}
        assert ledger.summary(acme.pk).available == 0

    def test_a_return_that_waits_alone_speaks_against_a_settlement(self, unanswered, ada):
        said(unanswered, EventKind.RETURNED, code="R01")

        assert "waits to be applied" in refused(propose, unanswered, ada)

    def test_waits_while_somebody_sends_it(self, unanswered, ada):
        later = database_now() + timedelta(seconds=20)
        FundingTransaction.objects.update(leased_until=later, next_attempt_at=NOW)

        assert "being sent right now" in refused(propose, unanswered, ada)

        FundingTransaction.objects.update(leased_until=None)

    def test_whoever_held_the_lease_records_nothing(self, acme, unanswered, ada, ben):
        held = FundingTransaction.objects.get()

        approve(propose(unanswered, ada), ben)

        assert not leases.finish(held)


class TestPayment:
    def test_is_completed(self, acme, ada, ben):
        fund(acme, 500)
        payment = pay(acme, 500)
        submission.submit_due(PAYMENTS, now=NOW)

        approve(propose(payment, ada), ben)

        assert (status_of(payment), funds_of(acme)) == ("completed", (0, 0))
        step = PaymentEvent.objects.filter(payment=payment).latest("sequence")
        assert (step.actor_type, step.actor_id) == ("staff", ben.pk)

    def test_is_rejected_and_its_money_is_back(self, acme, ada, ben):
        fund(acme, 500)
        payment = pay(acme, 500)
        submission.submit_due(PAYMENTS, now=NOW)

        approve(propose(payment, ada, BankOutcome.REJECTED, code="AC04"), ben)

        assert (status_of(payment), funds_of(acme)) == ("failed", (500, 0))


class TestRefusals:
    def test_nobody_decides_alone(self, acme, pending, ada):
        proposal = propose(pending, ada)

        assert "somebody else decides" in refused(approve, proposal, ada)

        assert ledger.summary(acme.pk).available == 0

    def test_nothing_is_applied_twice(self, acme, pending, ada, ben):
        proposal = propose(pending, ada)
        approve(proposal, ben)

        assert refused(approve, proposal, ben) == "It was approved."
        assert "nothing is to be settled" in refused(propose, pending, ada)
        assert ledger.summary(acme.pk).available == 25_000

    def test_one_at_a_time(self, pending, ada, ben):
        propose(pending, ada)

        assert "already" in refused(propose, pending, ben)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"amount": 24_999}, "The amount is not that of the transfer."),
            ({"subject_id": "ftx_00000000000000000000000000"}, "There is no such"),
            ({"subject_id": "nonsense"}, "There is no such"),
            ({"bank_reference": " "}, "1 to 64 characters"),
            ({"reason": ""}, "1 to 300 characters"),
            ({"code": "R01"}, "A code belongs to"),
            ({"kind": BankOutcome.RETURNED, "code": ""}, "A code belongs to"),
        ],
    )
    def test_of_terms_that_cannot_be_right(self, pending, ada, changes, words):
        assert words in refused(propose, pending, ada, **changes)

        assert not HandSettlement.objects.exists()

    def test_of_what_was_never_sent(self, acme, ada):
        reserved = top_up(acme)

        assert "It is reserved" in refused(propose, reserved, ada)

    def test_while_a_message_of_the_network_waits(self, pending, ada):
        said(pending, EventKind.RETURNED, code="R01")

        assert "waits to be applied" in refused(propose, pending, ada)

    @pytest.mark.parametrize("amount", [999])
    def test_where_a_message_says_otherwise_between_both_people(
        self, acme, pending, ada, ben, amount
    ):
        proposal = propose(pending, ada)
        said(pending, EventKind.FINAL, amount=amount)
        messages.apply_new(FUNDING, now=NOW)

        assert "says otherwise: final nev-1" in refused(approve, proposal, ben)

        assert ledger.summary(acme.pk).available == 0
        reviews.resolve(
            event_id=InboundEvent.objects.get().pk, note="x", actor=actors.staff(ada.pk), now=NOW
        )


class TestDesk:
    LIST = "admin:network_inbox_handsettlement"

    def test_one_proposes_and_another_one_approves(self, acme, pending, ada, ben):
        form = {
            "subject_id": pending.pk,
            "kind": "settled",
            "amount": "250.00",
            "bank_reference": "FED-77",
            "code": "",
            "reason": "On the statement",
        }
        for who in (ada, ben):
            who.is_staff = True
        first, second = desk_of(ada), desk_of(ben)

        adding = reverse(f"{self.LIST}_add")
        assert "nothing moves before somebody else approves" in first.get(adding).content.decode()
        first.post(adding, form)

        proposal = HandSettlement.objects.get()
        page = reverse(f"{self.LIST}_approve", args=[proposal.pk])
        shown = reverse(f"{self.LIST}_change", args=[proposal.pk])
        assert page not in first.get(shown).content.decode()
        assert page in second.get(shown).content.decode()
        assert "Compare with the bank" in second.get(page).content.decode()
        second.post(page, {"reason": "Seen, too"})

        pending.refresh_from_db()
        assert pending.status == "completed"


def desk_of(person):
    return browser_of(person)
