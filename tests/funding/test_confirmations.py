"""Asking approvers about a large funding, once more, and no longer."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals.errors import ConfirmationClosed, ConfirmationResentRecently, UnknownConfirmation
from funding.models import AutoFundingConfig, Confirmation, FundingTransaction
from funding.services import auto_funding, confirmations, topups
from tenants.models import AuditEvent, Role
from tests.builders import NOW, mails_of, make_auto_funding, make_member, make_source, notices_of
from tests.funding.asking import BOSS, CFO, END, HOUR, TEAM, approve, outcome, page_of, token_of


class TestRequest:
    def test_binds_the_question_to_the_terms(self, acme, question):
        funding = FundingTransaction.objects.get()

        assert (question.tenant, question.funding, question.amount) == (acme, funding, 50_000)
        assert question.source == funding.source
        assert question.approvers == [BOSS, CFO]
        assert question.expires_at == END
        assert question.reason == ("The balance of $0.00, with $0.00 on its way, is below $100.00.")
        assert mails_of(acme, "confirmation_request") == [BOSS, CFO]
        assert notices_of(acme, "confirmation.requested") == [
            {
                "confirmationId": question.pk,
                "fundingTransactionId": funding.pk,
                "amount": 50_000,
                "expiresAt": "2026-11-23T15:00:00.000000Z",
            }
        ]

    def test_asks_owners_and_approvers_where_nobody_is_named(self, acme):
        make_source(acme)
        make_auto_funding(acme, confirmation_threshold=0)
        make_member(acme, email="owner@acme.example", role=Role.OWNER)
        make_member(acme, email="approver@acme.example", role=Role.APPROVER)
        make_member(acme, email="member@acme.example", role=Role.MEMBER)
        gone = make_member(acme, email="gone@acme.example", role=Role.OWNER)
        gone.is_active = False
        gone.save()

        auto_funding.evaluate(tenant_id=acme.pk, now=NOW)

        assert Confirmation.objects.get().approvers == [
            "approver@acme.example",
            "owner@acme.example",
        ]

    def test_a_large_top_up_is_asked_about_where_the_tenant_wants_it(self, acme):
        source = make_source(acme)
        make_auto_funding(acme, enabled=False, confirmation_threshold=1_000, confirm_topups=True)

        funding = topups.request(
            tenant_id=acme.pk,
            mode=acme.mode,
            topup=topups.TopUp(source_id=source.pk, amount=1_001),
            actor=TEAM,
            now=NOW,
        )

        assert funding.status == "awaiting_confirmation"
        assert Confirmation.objects.get().reason == (
            "A top-up above the amount that needs no approval."
        )
        approve(Confirmation.objects.get(), typed="10.01")
        funding.refresh_from_db()
        assert funding.status == "reserved"


class TestCancel:
    def test_withdraws_the_question_and_tells_all_approvers(self, acme, question):
        topups.cancel(tenant_id=acme.pk, funding_id=question.funding_id, actor=TEAM, now=NOW)

        assert outcome(question) == ("superseded", "usr_1", "failed", "canceled")
        assert mails_of(acme, "confirmation_decided") == [BOSS, CFO]
        with pytest.raises(ConfirmationClosed):
            approve(question)

    def test_of_a_funding_nobody_was_asked_about_withdraws_nothing(self, acme, question):
        approve(question)

        topups.cancel(tenant_id=acme.pk, funding_id=question.funding_id, actor=TEAM, now=NOW)

        assert outcome(question) == ("approved", BOSS, "failed", "canceled")


class TestResend:
    def resend(self, tenant, question, now):
        return confirmations.resend(
            tenant_id=tenant.pk, funding_id=question.funding_id, actor=TEAM, now=now
        )

    def test_mails_each_approver_a_new_link_and_the_old_one_still_works(self, acme, question):
        old = token_of(question)

        assert self.resend(acme, question, NOW + HOUR) == [BOSS, CFO]

        assert mails_of(acme, "confirmation_request") == [BOSS, BOSS, CFO, CFO]
        assert page_of(old, NOW + HOUR).state == "open"
        event = AuditEvent.objects.get(action="confirmation.resent")
        assert event.details["to"] == [BOSS, CFO]

    def test_not_within_ten_minutes_of_the_last_mail(self, acme, question):
        with pytest.raises(ConfirmationResentRecently):
            self.resend(acme, question, NOW + timedelta(minutes=9))

        assert self.resend(acme, question, NOW + timedelta(minutes=10)) == [BOSS, CFO]

    def test_asks_those_who_were_asked_whatever_the_settings_say_now(self, acme, question):
        AutoFundingConfig.objects.update(confirmation_emails=["evil@example.com"])

        assert self.resend(acme, question, NOW + HOUR) == [BOSS, CFO]

    def test_asks_whoever_there_is_now_if_nobody_was_asked(self, acme):
        make_source(acme)
        make_auto_funding(acme, confirmation_threshold=0)
        auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
        question = Confirmation.objects.get()
        with pytest.raises(ConfirmationResentRecently):
            self.resend(acme, question, NOW)
        make_member(acme, email="owner@acme.example")

        assert self.resend(acme, question, NOW) == ["owner@acme.example"]

    def test_hides_other_tenants_questions(self, rival, question):
        with pytest.raises(UnknownConfirmation):
            self.resend(rival, question, NOW + HOUR)

    def test_of_a_decided_question_is_refused(self, acme, question):
        approve(question)

        with pytest.raises(ConfirmationClosed):
            self.resend(acme, question, NOW + HOUR)
