"""Payments whose method is left to us: instant, or by ACH where the receiving bank cannot take
that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import Error, transaction

from balance import invariants
from networks.base import EVENT_CODE_LENGTH, EventKind, InstructionRefused, Method, MethodTerms
from networks.refusals import CANNOT_TAKE_IT
from networks.return_codes import NOT_CARRIED, NOT_REACHED, TOO_MUCH
from networks.sandbox.bank import INSTANT_NAME, SandboxBank
from networks.sandbox.models import SandboxInstruction
from payments import attempts
from payments.errors import PaymentMethodNotSupported
from payments.models import AUTO, Payment, PaymentAttempt
from payments.services import orders
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tenants.services import accounts
from tests.builders import NOW
from tests.networks.scripted import ScriptedNetwork, message
from tests.payments.builders import (
    events_of,
    fund,
    funds_of,
    history_of,
    pay,
    postings_of,
    run_due,
    status_of,
)
from transfers import holds, route_changes, submission
from transfers.errors import AmountAboveLimit
from transfers.inbox import arrivals, messages
from transfers.inbox.models import InboundEvent, InboundOutcome

TAKEN, NOT_TAKEN, CLOSED, SILENT = "000123456789", "51001", "40004", "30001"
REROUTED = ["created", "processing", "created", "processing", "completed"]


@pytest.fixture
def funded(acme):
    fund(acme, 50_000)
    return acme


def automatic(tenant, to=TAKEN, amount=10_000, **order):
    return pay(tenant, amount, to=to, method=AUTO, **order)


def again(payment):
    return Payment.objects.get(pk=payment.pk)


def tried(payment):
    """(method, outcome, code) of each way, the first one first."""
    return [(each.method, str(each.outcome), each.code) for each in attempts.of(again(payment))]


def submit(now=NOW):
    submission.submit_due(PAYMENTS, now=now)


def deliver(payment, kind, *, network=INSTANT_NAME, id="nev-1", **changes):
    """The network says so; returns the message as it is kept."""
    said = message(payment, kind, id=id, network=network, **changes)
    arrivals.collect(network=ScriptedNetwork(said), id_prefix=PAYMENTS.id_prefix, now=NOW)
    messages.apply_new(PAYMENTS, now=NOW)
    return InboundEvent.objects.get(event_id=id)


def findings():
    return invariants.check(now=NOW, full=True).findings


def close(method):
    """Staff close the route of sandbox tenants."""
    route_changes.close_route(mode="sandbox", method=method, reason="down", actor=SYSTEM, now=NOW)


class Refusing(SandboxBank):
    """The sandbox's instant rail, which refuses at once with this code."""

    def __init__(self, code):
        super().__init__(INSTANT_NAME)
        instant: dict[str, MethodTerms] = {
            Method.RTP_CREDIT: self.capabilities.methods[Method.RTP_CREDIT]
        }
        self.capabilities = replace(self.capabilities, methods=instant)
        self.code = code

    def submit_many(self, instructions, *, now):
        return {
            each.id: InstructionRefused(code=self.code, reason="not there") for each in instructions
        }


class TestGoes:
    def test_instantly_where_the_bank_takes_it(self, funded):
        payment = automatic(funded)
        run_due()

        row = again(payment)
        assert (row.status, row.method, row.network, row.tries) == (
            "completed",
            "rtp",
            INSTANT_NAME,
            1,
        )
        assert tried(payment) == [("rtp", "completed", "")]
        assert not findings()

    def test_by_ach_where_the_bank_cannot_take_it(self, funded):
        payment = automatic(funded, to=NOT_TAKEN)
        run_due(rounds=8)

        row = again(payment)
        assert (row.status, row.method, row.network, row.tries) == (
            "completed",
            "ach_credit",
            "sandbox",
            2,
        )
        assert tried(payment) == [("rtp", "refused", "NOAT"), ("ach_credit", "completed", "")]
        assert history_of(payment) == REROUTED
        assert postings_of(payment) == [("lock", 10_000), ("settlement", 10_000)]
        assert events_of(payment) == [
            "payment.created",
            "payment.processing",
            "payment.processing",
            "payment.completed",
        ]
        assert funds_of(funded) == (40_000, 0)
        assert not findings()

    def test_by_each_network_once(self, funded):
        payment = automatic(funded, to=NOT_TAKEN)
        run_due(rounds=8)

        told = SandboxInstruction.objects.filter(external_id=payment.pk)
        assert set(told.values_list("network", "method", "submissions")) == {
            (INSTANT_NAME, Method.RTP_CREDIT, 1),
            ("sandbox", Method.ACH_CREDIT, 1),
        }

    @pytest.mark.parametrize("code", [NOT_REACHED, NOT_CARRIED, TOO_MUCH])
    def test_by_ach_where_the_network_refuses_it_at_once(self, funded, connect, code):
        connect(Refusing(code))
        payment = automatic(funded)
        run_due(rounds=8)

        assert status_of(payment) == "completed"
        assert tried(payment) == [("rtp", "refused", code), ("ach_credit", "completed", "")]
        assert history_of(payment) == ["created", "processing", "completed"]
        assert PaymentAttempt.objects.get().sent_at is None
        assert not findings()

    def test_by_ach_at_once_where_it_is_too_much_for_an_instant_payment(self, funded, settings):
        settings.PAYMENT_AMOUNT_MAX = {"ach_credit": None, "rtp": 5_000}
        payment = automatic(funded)

        assert (payment.method, payment.method_asked) == ("ach_credit", AUTO)

    def test_with_the_arrival_of_the_way_in_use(self, funded):
        payment = automatic(funded, to=NOT_TAKEN)
        at_first = payment.expected_arrival_date
        run_due(rounds=1)
        submit()

        row = again(payment)
        assert row.status == "processing"
        assert row.expected_arrival_date > at_first

    def test_and_says_so_in_the_audit_log(self, funded):
        payment = automatic(funded, to=NOT_TAKEN)
        run_due(rounds=8)

        line = AuditEvent.objects.get(subject_id=payment.pk, action="payment.rerouted")
        assert (line.actor_type, line.actor_id) == ("network", INSTANT_NAME)
        assert (line.details["before"], line.details["method"]) == ("rtp", "ach_credit")

    @pytest.mark.parametrize(
        "code", sorted(code for code in CANNOT_TAKE_IT if len(code) <= EVENT_CODE_LENGTH)
    )
    def test_another_way_after_each_code_that_says_so(self, funded, code):
        payment = automatic(funded, to=SILENT)
        submit()

        deliver(payment, EventKind.REJECTED, code=code)

        assert (status_of(payment), again(payment).method) == ("created", "ach_credit")


class TestEnds:
    @pytest.mark.parametrize("code", ["AC03", "AC04", "AC06", "AM04", "MD07", "withdrawn", "E999"])
    def test_where_another_network_would_refuse_it_as_well(self, funded, code):
        payment = automatic(funded, to=SILENT)
        submit()

        deliver(payment, EventKind.REJECTED, code=code)

        assert (status_of(payment), again(payment).failure_code) == ("failed", code)
        assert funds_of(funded) == (50_000, 0)

    def test_where_its_method_was_chosen(self, funded):
        payment = pay(funded, to=NOT_TAKEN, method="rtp")
        run_due(rounds=8)

        assert (status_of(payment), again(payment).failure_code) == ("failed", "NOAT")
        assert not PaymentAttempt.objects.exists()

    def test_where_money_may_have_moved(self, funded):
        payment = automatic(funded, to=SILENT)
        submit()
        deliver(payment, EventKind.SETTLED, settlement_date=NOW.date())

        deliver(payment, EventKind.REJECTED, id="nev-2", code="NOAT")

        assert status_of(payment) == "failed"
        assert not PaymentAttempt.objects.exists()

    def test_with_what_ach_said_last(self, funded):
        payment = automatic(funded, to=SILENT)
        submit()
        deliver(payment, EventKind.REJECTED, code="NOAT")
        submit()
        deliver(payment, EventKind.REJECTED, network="sandbox", id="nev-2", code="R18")

        row = again(payment)
        assert (row.status, row.failure_code) == ("failed", "R18")
        assert tried(payment) == [("rtp", "refused", "NOAT"), ("ach_credit", "refused", "R18")]
        assert events_of(payment)[-1] == "payment.failed"
        assert events_of(payment).count("payment.failed") == 1
        assert postings_of(payment) == [("lock", 10_000), ("unlock", 10_000)]
        assert not findings()

    def test_with_what_the_first_network_said_where_it_is_too_much_for_ach(self, funded, settings):
        settings.PAYMENT_AMOUNT_MAX = {"ach_credit": 5_000, "rtp": None}
        payment = automatic(funded, to=NOT_TAKEN)
        run_due(rounds=8)

        assert (status_of(payment), again(payment).failure_code) == ("failed", "NOAT")

    def test_with_what_the_first_network_said_where_no_route_leads_to_ach(self, funded):
        payment = automatic(funded, to=NOT_TAKEN)
        close(Method.ACH_CREDIT)
        run_due(rounds=8)

        assert (status_of(payment), again(payment).failure_code) == ("failed", "NOAT")


class TestTheHold:
    def test_of_staff_ends_it_where_the_network_refuses_it(self, funded):
        payment = automatic(funded, to=SILENT)
        submit()
        Payment.objects.filter(pk=payment.pk).update(held_at=NOW, hold_reason="a look")

        deliver(payment, EventKind.REJECTED, code="NOAT")

        assert status_of(payment) == "failed"


class TestUnknownOutcomes:
    def test_are_never_followed_by_another_way(self, funded):
        payment = automatic(funded, to="30002")  # the network is down at first
        submit()

        row = again(payment)
        assert (row.status, row.method, row.attempts) == ("created", "rtp", 1)
        assert not PaymentAttempt.objects.exists()


class TestAfterwards:
    @pytest.fixture
    def rerouted(self, funded):
        payment = automatic(funded, to=SILENT)
        submit()
        deliver(payment, EventKind.REJECTED, code="NOAT")
        return payment

    @pytest.mark.parametrize("kind", [EventKind.ACCEPTED, EventKind.REJECTED])
    def test_what_the_first_network_repeats_changes_nothing(self, rerouted, kind):
        submit()
        before = again(rerouted)

        late = deliver(rerouted, kind, id="late", code="NOAT" if kind == "rejected" else "")

        assert (late.outcome, late.note) == (InboundOutcome.APPLIED, messages.KNOWN_BEFORE)
        assert again(rerouted).updated_at == before.updated_at
        assert status_of(rerouted) == "processing"
        assert not findings()

    @pytest.mark.parametrize(
        ("kind", "more"),
        [
            (EventKind.FINAL, {}),
            (EventKind.SETTLED, {"settlement_date": NOW.date()}),
            (EventKind.RETURNED, {"code": "AC04"}),
            (EventKind.REJECTED, {"code": "NOAT", "amount": 1}),
        ],
    )
    def test_what_contradicts_it_waits_for_a_person(self, rerouted, kind, more):
        submit()

        late = deliver(rerouted, kind, id="late", **more)

        assert (late.outcome, late.note) == (
            InboundOutcome.REVIEW,
            "another network's payment",
        )
        assert status_of(rerouted) == "processing"
        assert postings_of(rerouted) == [("lock", 10_000)]

    @pytest.mark.parametrize(
        ("kind", "more"),
        [
            (EventKind.FINAL, {}),
            (EventKind.SETTLED, {"settlement_date": NOW.date()}),
            (EventKind.RETURNED, {"code": "AC04"}),
            (EventKind.REJECTED, {"code": "NOAT", "amount": 1}),
        ],
    )
    def test_what_contradicts_it_keeps_it_from_being_paid_twice(self, rerouted, kind, more):
        late = deliver(rerouted, kind, id="late", **more)
        submit()

        row = again(rerouted)
        assert (row.status, row.attempts, row.standing) == ("created", 0, "on hold")
        assert row.hold_reason == (
            f"sandbox_rtp refused it, and now says {kind}: it may be paid already. Ask there first."
        )
        assert (late.outcome, late.note) == (InboundOutcome.REVIEW, "another network's payment")
        line = AuditEvent.objects.get(subject_id=rerouted.pk, action="payment.held")
        assert (line.actor_type, line.actor_id) == ("network", INSTANT_NAME)
        assert not SandboxInstruction.objects.filter(network="sandbox").exists()

    def test_more_that_contradicts_it_changes_no_hold_of_staff(self, rerouted):
        holds.hold(PAYMENTS, rerouted.pk, reason="a look", actor=SYSTEM, now=NOW)

        deliver(rerouted, EventKind.FINAL, id="late")

        assert again(rerouted).hold_reason == "a look"

    def test_what_another_network_says_of_it_keeps_it_from_nothing(self, rerouted):
        late = deliver(rerouted, EventKind.FINAL, network="elsewhere", id="late")
        submit()

        assert (late.outcome, status_of(rerouted)) == (InboundOutcome.REVIEW, "processing")

    def test_it_can_be_canceled_until_the_other_network_has_it(self, funded, rerouted):
        orders.cancel(tenant_id=funded.pk, payment_id=rerouted.pk, actor=SYSTEM, now=NOW)
        submit()

        assert status_of(rerouted) == "canceled"
        assert funds_of(funded) == (50_000, 0)
        assert not SandboxInstruction.objects.filter(network="sandbox").exists()
        assert events_of(rerouted).count("payment.failed") == 1
        assert not findings()

    def test_it_waits_while_its_tenant_is_suspended(self, funded, rerouted):
        accounts.suspend(tenant_id=funded.pk, actor=SYSTEM, now=NOW)
        submit()
        assert status_of(rerouted) == "created"

        accounts.release(tenant_id=funded.pk, actor=SYSTEM, now=NOW)
        submit()
        assert status_of(rerouted) == "processing"

    def test_staff_can_hold_it(self, rerouted):
        holds.hold(PAYMENTS, rerouted.pk, reason="a look", actor=SYSTEM, now=NOW)
        submit()

        assert status_of(rerouted) == "created"


class TestOrders:
    def test_need_a_network(self, funded):
        close(Method.ACH_CREDIT)
        close(Method.RTP_CREDIT)

        with pytest.raises(PaymentMethodNotSupported):
            automatic(funded)

    def test_are_refused_above_all_limits(self, funded, settings):
        settings.PAYMENT_AMOUNT_MAX = {"ach_credit": 5_000, "rtp": 7_000}

        with pytest.raises(AmountAboveLimit) as refused:
            automatic(funded)

        assert refused.value.extra["limit"] == 7_000


class TestTheDatabase:
    @pytest.mark.parametrize(
        "changes",
        [
            {"method": "ach_credit", "network": "sandbox", "tries": 2},
            {"network": "sandbox"},
            {"tries": 2},
            {"is_automatic": False},
        ],
    )
    def test_lets_no_payment_go_another_way_without_a_refused_try(self, funded, changes):
        payment = automatic(funded)

        with pytest.raises(Error), transaction.atomic():
            Payment.objects.filter(pk=payment.pk).update(**changes)

    def test_lets_no_chosen_method_go_another_way(self, funded):
        payment = pay(funded, method="rtp")
        refuse(payment)

        with pytest.raises(Error), transaction.atomic():
            Payment.objects.filter(pk=payment.pk).update(
                method="ach_credit", network="sandbox", tries=2
            )

    def test_lets_none_back_that_does_not_go_another_way(self, funded):
        payment = automatic(funded, to=SILENT)
        submit()
        refuse(payment)

        with pytest.raises(Error), transaction.atomic():
            Payment.objects.filter(pk=payment.pk).update(status="created")

    def test_keeps_refused_tries(self, funded):
        payment = automatic(funded)
        refuse(payment)

        with pytest.raises(Error), transaction.atomic():
            PaymentAttempt.objects.update(code="AC04")
        with pytest.raises(Error), transaction.atomic():
            PaymentAttempt.objects.all().delete()


def refuse(payment):
    PaymentAttempt.objects.create(
        payment=payment,
        number=1,
        method=payment.method,
        network=payment.network,
        code="NOAT",
        ended_at=NOW,
    )
