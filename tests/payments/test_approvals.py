"""A second person approves payments above the tenant's own limit."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.db import IntegrityError, transaction

from approvals import decisions, links
from approvals.errors import (
    AmountMismatch,
    ConfirmationClosed,
    ConfirmationResentRecently,
    NotAnApprover,
    OwnPayment,
    UnknownConfirmation,
)
from approvals.matters import Decider
from balance import invariants
from payments.models import Payment, PaymentConfirmation
from payments.services import approval_settings, approvals, holds, orders, submission, waiting
from tenants.actors import SYSTEM, api_key, user
from tenants.errors import TenantSuspended
from tenants.models import AuditEvent, Membership, OutgoingEmail, Role
from tenants.services import accounts, emails
from tests.builders import NOW, mails_of, make_member, notices_of
from tests.corruption import tamper
from tests.payments.builders import (
    account,
    events_of,
    fund,
    funds_of,
    history_of,
    postings_of,
    run_due,
    status_of,
)

HOUR = timedelta(hours=1)
END = NOW + 72 * HOUR
OWNER = "owner@acme.example"
CHECKER = "checker@acme.example"
PROGRAM = api_key("key_1")


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


@pytest.fixture
def owner(acme):
    return make_member(acme, email=OWNER, role=Role.OWNER)


@pytest.fixture
def checker(acme):
    return make_member(acme, email=CHECKER, role=Role.APPROVER)


@pytest.fixture
def rule(acme, owner, checker):
    """Payments above $10.00 need a second person; $100.00 is there."""
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    fund(acme, 10_000)
    return acme


@pytest.fixture
def payment(rule):
    """$50.00, ordered by a program."""
    return order(rule)


def order(tenant, amount=5_000, *, actor=PROGRAM, wait=False, now=NOW):
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=amount, recipient=account(), wait_for_funds=wait),
        actor=actor,
        now=now,
    )


def question_of(payment):
    return PaymentConfirmation.objects.get(payment=payment)


def token_of(payment, email=OWNER):
    address = links.mint(approvals.MATTER, question_of(payment), approver_email=email, now=NOW)
    return address.rstrip("/").rpartition("/")[2]


def approve(payment, *, email=OWNER, typed="$50.00", now=NOW):
    decisions.approve(token=token_of(payment, email), typed_amount=typed, now=now)


def decline(payment, *, email=OWNER, now=NOW):
    decisions.decline(token=token_of(payment, email), reason="Not this one", now=now)


def approve_signed_in(payment, person, *, now=NOW):
    decisions.approve_signed_in(
        tenant_id=payment.tenant_id,
        confirmation_id=question_of(payment).pk,
        by=Decider(email=person.email, actor=user(person.pk)),
        typed_amount="50",
        now=now,
    )


def cancel(payment, *, actor=PROGRAM):
    return orders.cancel(tenant_id=payment.tenant_id, payment_id=payment.pk, actor=actor, now=NOW)


def outcome(payment):
    question = question_of(payment)
    payment.refresh_from_db()
    return question.decision, question.decided_by, payment.status, payment.failure_code


class TestOrder:
    @pytest.mark.parametrize(("amount", "asks"), [(1_000, False), (1_001, True)])
    def test_only_above_the_limit_people_are_asked(self, rule, amount, asks):
        payment = order(rule, amount)

        assert payment.requires_confirmation is asks
        assert PaymentConfirmation.objects.exists() is asks

    def test_without_a_limit_nobody_is_asked(self, acme, owner):
        fund(acme, 10_000_000)

        assert not order(acme, 10_000_000).requires_confirmation

    def test_sets_the_money_aside_and_asks(self, rule, payment):
        question = question_of(payment)

        assert (payment.status, payment.confirmation_expires_at) == ("created", END)
        assert (funds_of(rule), postings_of(payment)) == ((5_000, 5_000), [("lock", 5_000)])
        assert (question.amount, question.approvers) == (5_000, [CHECKER, OWNER])
        assert question.reason == "Above $10.00 a second person approves. Ordered by key_1."
        assert mails_of(rule, "confirmation_request") == [CHECKER, OWNER]
        assert notices_of(rule, "confirmation.requested") == [
            {
                "confirmationId": question.pk,
                "paymentId": payment.pk,
                "amount": 5_000,
                "expiresAt": "2026-11-23T15:00:00.000000Z",
            }
        ]

    def test_is_not_sent_while_it_waits(self, rule, payment):
        run_due(now=NOW + 71 * HOUR)

        assert status_of(payment) == "created"
        assert events_of(payment) == ["payment.created"]

    def test_the_database_refuses_to_send_it(self, payment):
        with pytest.raises(IntegrityError), transaction.atomic():
            Payment.objects.update(status="processing", processing_at=NOW)
        with pytest.raises(IntegrityError), transaction.atomic():
            Payment.objects.update(next_attempt_at=NOW)

    def test_never_asks_whoever_made_it(self, rule, owner):
        payment = order(rule, actor=user(owner.pk))

        assert question_of(payment).approvers == [CHECKER]

    def test_what_was_refused_asks_nobody(self, rule):
        with pytest.raises(Exception, match="available"):
            order(rule, 20_000)

        assert mails_of(rule, "confirmation_request") == []

    def test_the_mail_says_what_is_decided(self, rule, payment):
        mail.outbox.clear()
        emails.send_due(now=NOW)

        (message,) = [each for each in mail.outbox if each.to == [OWNER]]
        text = str(message.body)
        for fact in ("pay $50.00", "Supplier LLC", "ending in 6789", "Balance of Acme"):
            assert fact in text
        assert re.search(r"/confirm/[0-9A-Za-z_-]{43}/", text)


class TestApproval:
    def test_lets_the_payment_go_and_arrive(self, rule, payment):
        approve(payment, now=NOW + HOUR)

        assert outcome(payment) == ("approved", OWNER, "created", "")
        assert payment.confirmed_at == payment.next_attempt_at == NOW + HOUR
        run_due(now=NOW + HOUR)
        assert history_of(payment) == ["created", "processing", "completed"]
        assert funds_of(rule) == (5_000, 0)
        event = AuditEvent.objects.get(action="confirmation.approved")
        assert (event.actor_id, event.subject_id) == (OWNER, payment.pk)
        assert mails_of(rule, "confirmation_decided") == [CHECKER]

    def test_by_a_person_who_is_signed_in(self, payment, checker):
        approve_signed_in(payment, checker)

        assert outcome(payment) == ("approved", CHECKER, "created", "")

    def test_needs_the_amount(self, payment):
        with pytest.raises(AmountMismatch):
            approve(payment, typed="$5,000.00")

        assert outcome(payment) == ("open", "", "created", "")

    def test_by_whoever_made_it_is_refused(self, rule, owner):
        payment = order(rule, actor=user(owner.pk))

        with pytest.raises(OwnPayment):
            approve(payment, email=OWNER.upper())
        with pytest.raises(NotAnApprover):
            approve_signed_in(payment, owner)

        assert outcome(payment) == ("open", "", "created", "")

    def test_by_the_only_owner_of_his_own_payment_is_refused(self, acme, owner):
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=NOW)
        fund(acme, 10_000)
        payment = order(acme, actor=user(owner.pk))

        assert question_of(payment).approvers == []
        with pytest.raises(NotAnApprover):
            approve_signed_in(payment, owner)

    def test_by_somebody_who_changed_the_address_since_is_refused(self, rule, owner):
        payment = order(rule, actor=user(owner.pk))
        owner.email = CHECKER
        PaymentConfirmation.objects.update(approvers=[CHECKER])

        with pytest.raises(OwnPayment):
            approve_signed_in(payment, owner)

    def test_by_an_old_mail_of_somebody_who_left_the_team_is_refused(self, payment, checker):
        Membership.objects.filter(user=checker).delete()

        with pytest.raises(NotAnApprover, match="no longer"):
            approve(payment, email=CHECKER)

        assert outcome(payment) == ("open", "", "created", "")

    def test_by_an_old_mail_of_somebody_who_only_looks_now_is_refused(self, payment, checker):
        Membership.objects.filter(user=checker).update(role=Role.VIEWER)

        with pytest.raises(NotAnApprover, match="no longer"):
            approve(payment, email=CHECKER)

    def test_by_a_stranger_is_refused(self, payment, rival):
        stranger = make_member(rival, email="owner@rival.example")

        with pytest.raises(NotAnApprover):
            approve_signed_in(payment, stranger)
        with pytest.raises(UnknownConfirmation):
            decisions.approve_signed_in(
                tenant_id=rival.pk,
                confirmation_id=question_of(payment).pk,
                by=Decider(email=OWNER, actor=user(stranger.pk)),
                typed_amount="50",
                now=NOW,
            )

    def test_of_a_suspended_tenant_is_refused(self, rule, payment):
        accounts.suspend(tenant_id=rule.pk, actor=SYSTEM, now=NOW)

        with pytest.raises(TenantSuspended):
            approve(payment)

    def test_a_held_payment_stays_held(self, rule, payment):
        holds.hold(payment_id=payment.pk, reason="look", actor=SYSTEM, now=NOW)
        approve(payment)

        assert submission.submit_due(now=NOW) == 0
        holds.release(payment_id=payment.pk, reason="fine", actor=SYSTEM, now=NOW)
        assert submission.submit_due(now=NOW) == 1


class TestWaitingForMoney:
    @pytest.fixture
    def waiter(self, rule):
        """$500.00 that neither the balance nor a person allows yet."""
        return order(rule, 50_000, wait=True)

    def test_money_first(self, rule, waiter):
        fund(rule, 50_000)
        run_due()

        assert (status_of(waiter), funds_of(rule)) == ("created", (10_000, 50_000))
        approve(waiter, typed="500")
        run_due()
        assert status_of(waiter) == "completed"

    def test_people_first(self, rule, waiter):
        approve(waiter, typed="500")
        run_due()

        assert outcome(waiter) == ("approved", OWNER, "waiting_for_funds", "")
        fund(rule, 50_000)
        run_due()
        assert status_of(waiter) == "completed"

    def test_declined_while_it_waits(self, rule, waiter):
        decline(waiter)

        assert outcome(waiter) == ("declined", OWNER, "failed", "confirmation_declined")
        assert (funds_of(rule), postings_of(waiter)) == ((10_000, 0), [])

    def test_giving_up_withdraws_the_question(self, rule, waiter, settings):
        PaymentConfirmation.objects.update(expires_at=NOW + timedelta(days=30))
        waiting.expire_due(now=NOW + timedelta(days=7))

        assert outcome(waiter) == ("superseded", "", "failed", "wait_expired")


class TestEnd:
    def test_declined_unlocks_the_money(self, rule, payment):
        decline(payment)

        assert outcome(payment) == ("declined", OWNER, "failed", "confirmation_declined")
        assert payment.failure_message == "Declined: Not this one"
        assert funds_of(rule) == (10_000, 0)
        assert postings_of(payment) == [("lock", 5_000), ("unlock", 5_000)]
        assert events_of(payment) == ["payment.created", "payment.failed"]

    def test_whoever_made_it_may_decline_it(self, rule, owner):
        payment = order(rule, actor=user(owner.pk))

        decline(payment)

        assert outcome(payment)[0] == "declined"

    def test_expired_unlocks_the_money(self, rule, payment):
        assert approvals.sweep(now=END - timedelta(microseconds=1)) == 1  # the reminder
        assert status_of(payment) == "created"

        assert approvals.sweep(now=END) == 1

        assert outcome(payment) == ("expired", "", "failed", "confirmation_expired")
        assert funds_of(rule) == (10_000, 0)
        assert mails_of(rule, "confirmation_reminder") == [CHECKER, OWNER]
        assert mails_of(rule, "confirmation_decided") == [CHECKER, OWNER]

    def test_wakes_those_who_wait_for_the_money(self, rule, payment):
        waiter = order(rule, 900, wait=True)
        big = order(rule, 6_000, wait=True)
        approve(big, typed="60")
        assert (status_of(waiter), status_of(big)) == ("created", "waiting_for_funds")

        decline(payment)
        run_due()

        assert status_of(big) == "completed"

    def test_canceled_withdraws_the_question(self, rule, payment, owner):
        cancel(payment, actor=user(owner.pk))

        assert outcome(payment) == ("superseded", OWNER, "canceled", "canceled")
        assert funds_of(rule) == (10_000, 0)
        with pytest.raises(ConfirmationClosed):
            approve(payment)

    def test_first_decision_is_the_last(self, payment):
        approve(payment)

        with pytest.raises(ConfirmationClosed):
            decline(payment, email=CHECKER)


class TestResend:
    def test_asks_once_more(self, rule, payment):
        with pytest.raises(ConfirmationResentRecently):
            approvals.resend(tenant_id=rule.pk, payment_id=payment.pk, actor=PROGRAM, now=NOW)

        asked = approvals.resend(
            tenant_id=rule.pk, payment_id=payment.pk, actor=PROGRAM, now=NOW + HOUR
        )

        assert asked == [CHECKER, OWNER]

    def test_asks_who_has_joined_since(self, acme, owner):
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=NOW)
        fund(acme, 10_000)
        payment = order(acme, actor=user(owner.pk))
        make_member(acme, email=CHECKER, role=Role.APPROVER)

        asked = approvals.resend(
            tenant_id=acme.pk, payment_id=payment.pk, actor=user(owner.pk), now=NOW
        )

        assert asked == [CHECKER]


class TestLooking:
    def test_shows_whom_the_money_goes_to(self, payment):
        view = decisions.look_up(token=token_of(payment), now=NOW)

        assert view is not None
        assert (view.kind, view.holder_name, view.last4) == ("payment", "Supplier LLC", "6789")
        assert (view.subject_id, view.amount, view.state) == (payment.pk, 5_000, "open")

    def test_lists_what_is_open(self, rule, payment, rival):
        (view,) = decisions.unanswered(tenant_id=rule.pk, now=NOW)

        assert view.subject_id == payment.pk
        assert decisions.unanswered(tenant_id=rival.pk, now=NOW) == []
        assert decisions.unanswered(tenant_id=rule.pk, now=END) == []


class TestLimit:
    def set(self, tenant, threshold):
        approval_settings.set_threshold(
            tenant_id=tenant.pk, threshold=threshold, actor=SYSTEM, now=NOW
        )

    def test_is_audited(self, rule):
        self.set(rule, 500)

        changes = AuditEvent.objects.filter(action="payments.approval_threshold_changed")
        assert [event.details for event in changes.order_by("pk")] == [
            {"from": None, "to": 1_000},
            {"from": 1_000, "to": 500},
        ]

    @pytest.mark.parametrize(
        ("threshold", "told"), [(500, []), (1_000, []), (1_001, "all"), (None, "all")]
    )
    def test_loosening_it_is_told_to_those_who_approve(self, rule, threshold, told):
        self.set(rule, threshold)

        assert mails_of(rule, "safeguard_changed") == ([CHECKER, OWNER] if told else [])

    def test_the_mail_says_what_changed(self, rule):
        self.set(rule, None)

        context = OutgoingEmail.objects.filter(template="safeguard_changed")[0].context
        assert context["changes"] == [
            {
                "what": "Payments need a second person above",
                "before": "$10.00",
                "after": "never",
            }
        ]

    def test_does_not_touch_what_was_asked_before(self, rule, payment):
        self.set(rule, None)
        run_due()

        assert status_of(payment) == "created"
        assert order(rule).requires_confirmation is False


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE payments_paymentconfirmation SET decision = 'approved', decided_at = now()",
        "UPDATE payments_paymentconfirmation SET amount = amount + 1",
        "UPDATE payments_payment SET confirmed_at = now()",
    ],
)
@pytest.mark.parametrize("full", [False, True])
def test_the_audit_finds_a_question_that_does_not_fit(payment, rival, damage, full):
    with forgotten_damage():
        tamper(damage)
        report = invariants.check(now=NOW, full=full)
        other = invariants.check(now=NOW, full=full, tenant_id=rival.pk)

    assert {finding.code for finding in report.findings} == {"payment_confirmation"}
    assert other.findings == []


def test_the_audit_finds_a_payment_nobody_was_asked_about(payment):
    with forgotten_damage():
        tamper("DELETE FROM payments_paymentconfirmation")
        report = invariants.check(now=NOW, full=True)

    assert {finding.code for finding in report.findings} == {"payment_confirmation"}


class forgotten_damage:
    """So that the audit after the story finds nothing."""

    def __enter__(self):
        self.savepoint = transaction.savepoint()

    def __exit__(self, *_error):
        transaction.savepoint_rollback(self.savepoint)
