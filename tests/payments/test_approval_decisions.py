"""Who may approve a payment, and what that does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import answers
from approvals.errors import (
    AmountMismatch,
    ApprovalClosed,
    FormerApprover,
    NotAnApprover,
    OwnPayment,
    UnknownApproval,
)
from approvals.policies import Approver
from payments.models import PaymentConfirmation
from payments.services import approvals
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM, user
from tenants.errors import TenantSuspended
from tenants.models import AuditEvent, Membership, Role
from tenants.services import accounts
from tests.builders import NOW, mails_of, make_member
from tests.payments.asking import (
    CHECKER,
    END,
    HOUR,
    OWNER,
    approval_of,
    approve,
    approve_signed_in,
    cancel,
    decline,
    order,
    outcome,
)
from tests.payments.builders import (
    events_of,
    funds_of,
    history_of,
    postings_of,
    run_due,
    status_of,
)
from transfers import holds, submission

pytestmark = pytest.mark.usefixtures("books_balance")


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

        with pytest.raises(FormerApprover):
            approve(payment, email=OWNER.upper())
        with pytest.raises(NotAnApprover):
            approve_signed_in(payment, owner)

        assert outcome(payment) == ("open", "", "created", "")

    def test_by_somebody_who_changed_the_address_since_is_refused(self, rule, owner):
        payment = order(rule, actor=user(owner.pk))
        owner.email = CHECKER
        PaymentConfirmation.objects.update(approvers=[CHECKER])

        with pytest.raises(OwnPayment):
            approve_signed_in(payment, owner)

    def test_by_an_old_mail_of_somebody_who_left_the_team_is_refused(self, payment, checker):
        Membership.objects.filter(user=checker).delete()

        with pytest.raises(FormerApprover):
            approve(payment, email=CHECKER)
        with pytest.raises(FormerApprover):
            decline(payment, email=CHECKER)

        assert outcome(payment) == ("open", "", "created", "")

    def test_by_an_old_mail_of_somebody_who_only_looks_now_is_refused(self, payment, checker):
        Membership.objects.filter(user=checker).update(role=Role.VIEWER)

        with pytest.raises(FormerApprover):
            approve(payment, email=CHECKER)
        with pytest.raises(FormerApprover):
            decline(payment, email=CHECKER)

    def test_by_a_stranger_is_refused(self, payment, rival):
        stranger = make_member(rival, email="owner@rival.example")

        with pytest.raises(NotAnApprover):
            approve_signed_in(payment, stranger)
        with pytest.raises(UnknownApproval):
            answers.approve_signed_in(
                tenant_id=rival.pk,
                approval_id=approval_of(payment).pk,
                by=Approver(email=OWNER, actor=user(stranger.pk)),
                typed_amount="50",
                now=NOW,
            )

    def test_of_a_suspended_tenant_is_refused(self, rule, payment):
        accounts.suspend(tenant_id=rule.pk, actor=SYSTEM, now=NOW)

        with pytest.raises(TenantSuspended):
            approve(payment)

    def test_a_held_payment_stays_held(self, rule, payment):
        holds.hold(PAYMENTS, payment.pk, reason="look", actor=SYSTEM, now=NOW)
        approve(payment)

        assert submission.submit_due(PAYMENTS, now=NOW) == 0
        holds.release(PAYMENTS, payment.pk, reason="fine", actor=SYSTEM, now=NOW)
        assert submission.submit_due(PAYMENTS, now=NOW) == 1


class TestEnd:
    def test_declined_unlocks_the_money(self, rule, payment):
        decline(payment)

        assert outcome(payment) == ("declined", OWNER, "failed", "confirmation_declined")
        assert payment.failure_message == "Declined: Not this one"
        assert funds_of(rule) == (10_000, 0)
        assert postings_of(payment) == [("lock", 5_000), ("unlock", 5_000)]
        assert events_of(payment) == ["payment.created", "payment.failed"]

    def test_whoever_made_it_cancels_it_and_declines_nothing(self, rule, owner):
        payment = order(rule, actor=user(owner.pk))

        with pytest.raises(FormerApprover):
            decline(payment)
        cancel(payment, actor=user(owner.pk))

        assert outcome(payment)[::2] == ("superseded", "canceled")

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

    def test_canceled_withdraws_the_approval(self, rule, payment, owner):
        cancel(payment, actor=user(owner.pk))

        assert outcome(payment) == ("superseded", OWNER, "canceled", "canceled")
        assert funds_of(rule) == (10_000, 0)
        with pytest.raises(ApprovalClosed):
            approve(payment)

    def test_first_decision_is_the_last(self, payment):
        approve(payment)

        with pytest.raises(ApprovalClosed):
            decline(payment, email=CHECKER)
