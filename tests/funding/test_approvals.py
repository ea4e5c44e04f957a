"""Asking approvers about a large funding, once more, and no longer."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import deciders
from approvals.errors import ApprovalClosed, ApprovalResentRecently, UnknownApproval
from funding.models import AutoFundingConfig, Confirmation, FundingTransaction
from funding.services import approvals, auto_funding, topups
from funding.services.lifecycle import TopUp
from tenants.models import AuditEvent, Role
from tests.builders import NOW, mails_of, make_auto_funding, make_member, make_source, notices_of
from tests.funding.asking import BOSS, CFO, END, HOUR, TEAM, approve, outcome, page_of, token_of


class TestRequest:
    def test_binds_the_approval_to_the_terms(self, acme, approval):
        funding = FundingTransaction.objects.get()

        assert (approval.tenant, approval.funding, approval.amount) == (acme, funding, 50_000)
        assert approval.source == funding.source
        assert approval.approvers == [BOSS, CFO]
        assert approval.expires_at == END
        assert approval.reason == ("The balance of $0.00, with $0.00 on its way, is below $100.00.")
        assert mails_of(acme, "confirmation_request") == [BOSS, CFO]
        assert notices_of(acme, "confirmation.requested") == [
            {
                "confirmationId": approval.pk,
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
            topup=TopUp(source_id=source.pk, amount=1_001),
            actor=TEAM,
            now=NOW,
        )

        assert funding.status == "awaiting_confirmation"
        assert Confirmation.objects.get().reason == (
            "A top-up above the amount that needs no approval."
        )
        approve(Confirmation.objects.get(), typed="10.01", email=deciders.MADE_UP_APPROVER)
        funding.refresh_from_db()
        assert funding.status == "reserved"


class TestCancel:
    def test_withdraws_the_approval_and_tells_all_approvers(self, acme, approval):
        topups.cancel(tenant_id=acme.pk, funding_id=approval.funding_id, actor=TEAM, now=NOW)

        assert outcome(approval) == ("superseded", "usr_1", "failed", "canceled")
        assert mails_of(acme, "confirmation_decided") == [BOSS, CFO]
        with pytest.raises(ApprovalClosed):
            approve(approval)

    def test_of_a_funding_nobody_was_asked_about_withdraws_nothing(self, acme, approval):
        approve(approval)

        topups.cancel(tenant_id=acme.pk, funding_id=approval.funding_id, actor=TEAM, now=NOW)

        assert outcome(approval) == ("approved", BOSS, "failed", "canceled")


class TestResend:
    def resend(self, tenant, approval, now):
        return approvals.resend(
            tenant_id=tenant.pk, funding_id=approval.funding_id, actor=TEAM, now=now
        )

    def test_mails_each_approver_a_new_link_and_the_old_one_still_works(self, acme, approval):
        old = token_of(approval)

        assert self.resend(acme, approval, NOW + HOUR) == [BOSS, CFO]

        assert mails_of(acme, "confirmation_request") == [BOSS, BOSS, CFO, CFO]
        assert page_of(old, NOW + HOUR).state == "open"
        event = AuditEvent.objects.get(action="confirmation.resent")
        assert event.details["to"] == [BOSS, CFO]

    def test_not_within_ten_minutes_of_the_last_mail(self, acme, approval):
        with pytest.raises(ApprovalResentRecently):
            self.resend(acme, approval, NOW + timedelta(minutes=9))

        assert self.resend(acme, approval, NOW + timedelta(minutes=10)) == [BOSS, CFO]

    def test_asks_those_who_approve_now(self, acme, approval):
        AutoFundingConfig.objects.update(confirmation_emails=[CFO, "new@acme.example"])

        assert self.resend(acme, approval, NOW + HOUR) == [CFO, "new@acme.example"]
        approval.refresh_from_db()
        assert approval.approvers == [BOSS, CFO, "new@acme.example"]

    def test_asks_whoever_there_is_now_if_nobody_was_asked(self, acme):
        make_source(acme)
        make_auto_funding(acme, confirmation_threshold=0)
        auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
        approval = Confirmation.objects.get()
        with pytest.raises(ApprovalResentRecently):
            self.resend(acme, approval, NOW)
        make_member(acme, email="owner@acme.example")

        assert self.resend(acme, approval, NOW) == ["owner@acme.example"]

    def test_hides_other_tenants_approvals(self, rival, approval):
        with pytest.raises(UnknownApproval):
            self.resend(rival, approval, NOW + HOUR)

    def test_of_a_closed_approval_is_refused(self, acme, approval):
        approve(approval)

        with pytest.raises(ApprovalClosed):
            self.resend(acme, approval, NOW + HOUR)
