"""What approvers' answers do."""

from __future__ import annotations

import pytest

from approvals.errors import AmountMismatch, ApprovalClosed
from funding.errors import FundingSourceNotAuthorized, FundingSourceUnusable
from funding.models import AutoFundingConfig, FundingEvent, FundingMethod, FundingTransaction
from funding.services import sources
from tenants.actors import SYSTEM
from tenants.errors import TenantSuspended
from tenants.models import AuditEvent, OutgoingEmail
from tenants.services import accounts
from tests.balance.builders import balance_of
from tests.builders import NOW, mails_of, make_source
from tests.funding.asking import (
    BOSS,
    CFO,
    END,
    HOUR,
    TEAM,
    approve,
    decline,
    outcome,
    sent,
    untouched,
)


class TestApprove:
    def test_lets_the_funding_go_ahead_once(self, acme, approval):
        approve(approval, now=NOW + HOUR)

        assert outcome(approval) == ("approved", BOSS, "reserved", "")
        funding = FundingTransaction.objects.get()
        assert funding.next_attempt_at == funding.reserved_at == NOW + HOUR
        assert funding.awaiting_confirmation_at == NOW
        assert balance_of(acme) == (0, 50_000, 0)
        step = FundingEvent.objects.get(to_status="reserved")
        assert (step.from_status, step.actor_type, step.actor_id, step.reason) == (
            "awaiting_confirmation",
            "approver",
            BOSS,
            "approved",
        )
        event = AuditEvent.objects.get(action="confirmation.approved")
        assert (event.actor_id, event.subject_id) == (BOSS, funding.pk)

    def test_promises_a_date_counted_from_the_approval(self, approval):
        promised = approval.funding.expected_availability_date

        approve(approval, now=NOW + 71 * HOUR)

        assert FundingTransaction.objects.get().expected_availability_date > promised

    def test_tells_the_other_approvers(self, acme, approval):
        approve(approval)

        assert mails_of(acme, "confirmation_decided") == [CFO]
        context = OutgoingEmail.objects.get(template="confirmation_decided").context
        assert (context["state"], context["decided_by"], context["amount"]) == (
            "approved",
            BOSS,
            50_000,
        )
        assert "was approved" in sent("confirmation_decided")[CFO]

    @pytest.mark.parametrize("typed", ["500", "500.00", "$500.00", " $500.00 ", "$500"])
    def test_takes_the_amount_as_people_type_it(self, approval, typed):
        approve(approval, typed=typed)

        assert outcome(approval)[0] == "approved"

    @pytest.mark.parametrize(
        "typed",
        [
            "",
            "yes",
            "50000",
            "500.0",
            "500.01",
            "5 00",
            "500,00",
            "-500",
            "\N{FULLWIDTH DIGIT FIVE}00",
            "500.00 USD",
        ],
    )
    def test_refuses_any_other_amount(self, approval, typed):
        with pytest.raises(AmountMismatch):
            approve(approval, typed=typed)

        assert untouched(approval)

    def test_of_a_suspended_tenant_is_refused(self, acme, approval):
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        with pytest.raises(TenantSuspended):
            approve(approval)

        assert untouched(approval)

    def test_from_an_account_the_bank_has_ended_is_refused(self, approval):
        sources.note_return(source=approval.source, return_code="R02", now=NOW)

        with pytest.raises(FundingSourceUnusable):
            approve(approval)

        assert untouched(approval)

    def test_while_the_bank_says_that_debits_are_not_authorized_is_refused(self, approval):
        sources.note_return(source=approval.source, return_code="R07", now=NOW)

        with pytest.raises(FundingSourceNotAuthorized):
            approve(approval)

        assert untouched(approval)

    def test_after_the_time_is_up_is_refused(self, approval):
        with pytest.raises(ApprovalClosed):
            approve(approval, now=END)

        assert untouched(approval)

    @pytest.mark.parametrize("second", [approve, decline])
    @pytest.mark.parametrize("first", [approve, decline])
    def test_the_first_decision_is_the_last(self, approval, first, second):
        first(approval)
        decided = outcome(approval)

        with pytest.raises(ApprovalClosed):
            second(approval, email=CFO)

        assert outcome(approval) == decided
        assert FundingEvent.objects.count() == 2

    @pytest.mark.parametrize(
        "change",
        [
            {"funding_amount": 60_000},
            {"funding_method": FundingMethod.RTP},
            {"enabled": False},
        ],
    )
    def test_under_other_terms_withdraws_the_approval(self, acme, approval, change):
        """The settings changed without withdrawing it: somebody held its row just then."""
        AutoFundingConfig.objects.update(**change)

        with pytest.raises(ApprovalClosed):
            approve(approval)

        assert outcome(approval) == ("superseded", "", "failed", "confirmation_superseded")
        assert balance_of(acme) == (0, 0, 0)

    def test_after_the_default_source_moved_withdraws_the_approval(self, acme, approval):
        other = make_source(acme, account_number="222222")
        sources.make_default(tenant_id=acme.pk, source_id=other.pk, actor=TEAM, now=NOW)

        with pytest.raises(ApprovalClosed):
            approve(approval)

        assert outcome(approval)[0] == "superseded"


class TestDecline:
    def test_ends_the_funding_and_makes_auto_funding_wait(self, acme, approval):
        decline(approval, reason=" Too \n early ", now=NOW + HOUR)

        assert outcome(approval) == ("declined", BOSS, "failed", "confirmation_declined")
        assert approval.decline_reason == "Too early"
        funding = FundingTransaction.objects.get()
        assert funding.failure_message == "Declined: Too early"
        assert balance_of(acme) == (0, 0, 0)
        config = AutoFundingConfig.objects.get()
        assert (config.paused_reason, config.paused_until) == (
            "waiting_after_failure",
            NOW + 2 * HOUR,
        )
        event = AuditEvent.objects.get(action="confirmation.declined")
        assert (event.actor_id, event.details["reason"]) == (BOSS, "Too early")
        assert mails_of(acme, "confirmation_decided") == [CFO]

    def test_needs_no_usable_account_and_no_running_tenant(self, acme, approval):
        sources.note_return(source=approval.source, return_code="R02", now=NOW)
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        decline(approval)

        assert outcome(approval)[0] == "declined"

    def test_long_reasons_are_cut(self, approval):
        decline(approval, reason="x" * 1_000)

        assert approval.decision == "open"
        approval.refresh_from_db()
        assert approval.decline_reason == "x" * 200
