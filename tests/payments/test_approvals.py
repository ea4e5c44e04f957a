"""A second person approves payments above the tenant's own limit."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.db import IntegrityError, transaction

from approvals import selectors
from approvals.errors import ApprovalResentRecently
from payments.models import Payment, PaymentConfirmation, PaymentConfirmationLink
from payments.services import approval_settings, approvals, waiting
from tenants.actors import SYSTEM, user
from tenants.models import Role
from tenants.services import emails
from tests.builders import NOW, mails_of, make_member, notices_of
from tests.payments.asking import (
    CHECKER,
    END,
    HOUR,
    OWNER,
    PROGRAM,
    approval_of,
    approve,
    decline,
    order,
    outcome,
    token_of,
)
from tests.payments.builders import events_of, fund, funds_of, postings_of, run_due, status_of

pytestmark = pytest.mark.usefixtures("books_balance")


def mail_page(message):
    """The HTML of a mail."""
    ((content, _type),) = message.alternatives
    return str(content)


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
        approval = approval_of(payment)

        assert (payment.status, payment.confirmation_expires_at) == ("created", END)
        assert str(payment) == "$50.00 by ACH transfer, needs approval, Nov 20, 2026, 10:00 AM EST"
        assert (funds_of(rule), postings_of(payment)) == ((5_000, 5_000), [("lock", 5_000)])
        assert (approval.amount, approval.approvers) == (5_000, [CHECKER, OWNER])
        assert approval.reason == "Above $10.00 a second person approves. Ordered by key_1."
        assert mails_of(rule, "confirmation_request") == [CHECKER, OWNER]
        assert notices_of(rule, "confirmation.requested") == [
            {
                "confirmationId": approval.pk,
                "paymentId": payment.pk,
                "amount": 5_000,
                "expiresAt": "2026-11-23T15:00:00.000000Z",
            }
        ]

    def test_the_mail_warns_of_letters_that_look_like_others(self, rule):
        order(rule, to="\u0410cme Supplies")

        emails.send_due(now=NOW)

        sentence = (
            "“\u0410cme” contains the Cyrillic letter “\u0410”, which looks like a Latin one."
        )
        assert [sentence in " ".join(str(message.body).split()) for message in mail.outbox] == [
            True,
            True,
        ]
        pages = [mail_page(message) for message in mail.outbox]
        assert [sentence in page for page in pages] == [True, True]

    def test_the_mail_warns_of_nothing_else(self, payment):
        emails.send_due(now=NOW)

        assert ["Look at the names" in str(message.body) for message in mail.outbox] == [False] * 2

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

        assert approval_of(payment).approvers == [CHECKER]

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
        assert f"/dashboard/approvals/{approval_of(payment).pk}\n" in text
        assert "/confirm/" not in text
        assert not PaymentConfirmationLink.objects.exists()


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

    def test_giving_up_withdraws_the_approval(self, rule, waiter, settings):
        PaymentConfirmation.objects.update(expires_at=NOW + timedelta(days=30))
        waiting.expire_due(now=NOW + timedelta(days=7))

        assert outcome(waiter) == ("superseded", "", "failed", "wait_expired")


class TestResend:
    def test_asks_once_more(self, rule, payment):
        with pytest.raises(ApprovalResentRecently):
            approvals.resend(tenant_id=rule.pk, payment_id=payment.pk, actor=PROGRAM, now=NOW)

        asked = approvals.resend(
            tenant_id=rule.pk, payment_id=payment.pk, actor=PROGRAM, now=NOW + HOUR
        )

        assert asked == [CHECKER, OWNER]

    def test_asks_who_has_joined_since(self, acme):
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=NOW)
        fund(acme, 10_000)
        payment = order(acme)
        make_member(acme, email=CHECKER, role=Role.APPROVER)

        asked = approvals.resend(tenant_id=acme.pk, payment_id=payment.pk, actor=PROGRAM, now=NOW)

        assert asked == [CHECKER]


class TestLooking:
    def test_shows_whom_the_money_goes_to(self, payment):
        view = selectors.by_link(token=token_of(payment), now=NOW)

        assert view is not None
        assert (view.kind, view.holder_name, view.last4) == ("payment", "Supplier LLC", "6789")
        assert (view.subject_id, view.amount, view.state) == (payment.pk, 5_000, "open")

    def test_lists_what_is_open(self, rule, payment, rival):
        (view,) = selectors.open_approvals(tenant_id=rule.pk, now=NOW)

        assert view.subject_id == payment.pk
        assert selectors.open_approvals(tenant_id=rival.pk, now=NOW) == []
        assert selectors.open_approvals(tenant_id=rule.pk, now=END) == []
