"""One approval, many answers at once: the first one wins and is written down once."""

from __future__ import annotations

import pytest

from approvals import answers, links
from approvals.errors import ApprovalClosed
from funding.models import Confirmation, FundingEvent, FundingTransaction
from funding.services import approval_sweeps, approvals, auto_funding
from funding.services.approval_policy import POLICY
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, OutgoingEmail
from tests.balance.builders import balance_of
from tests.builders import NOW, make_auto_funding, make_source, make_tenant
from tests.races.together import rounds, together

pytestmark = pytest.mark.django_db(transaction=True)

BOSS = "boss@acme.example"


@pytest.fixture
def approval(db):
    tenant = make_tenant()
    make_source(tenant)
    make_auto_funding(
        tenant, confirmation_threshold=0, confirmation_emails=[BOSS, "cfo@acme.example"]
    )
    auto_funding.evaluate(tenant_id=tenant.pk, now=NOW)
    return Confirmation.objects.get()


@pytest.fixture
def token(approval):
    address = links.mint(POLICY, approval, approver_email=BOSS, now=NOW)
    return address.rstrip("/").rpartition("/")[2]


def approve(token, now=NOW):
    answers.approve(token=token, typed_amount="$500.00", now=now)
    return "approved"


def decline(token, now=NOW):
    answers.decline(token=token, reason="no", now=now)
    return "declined"


@rounds(3, quick=0)
def test_50_approvals_and_50_declines_have_one_winner(approval, token, round_):
    outcomes = together(lambda worker: (approve if worker % 2 else decline)(token), workers=100)

    (winner,) = [outcome for outcome in outcomes if isinstance(outcome, str)]
    losers = [outcome for outcome in outcomes if not isinstance(outcome, str)]
    assert {type(loser) for loser in losers} == {ApprovalClosed}
    approval.refresh_from_db()
    assert (approval.decision, approval.decided_by) == (winner, BOSS)
    funding = FundingTransaction.objects.get()
    assert funding.status == {"approved": "reserved", "declined": "failed"}[winner]
    assert FundingEvent.objects.filter(funding=funding).count() == 2
    assert AuditEvent.objects.filter(action__startswith="confirmation.").count() == 1
    assert OutgoingEmail.objects.filter(template="confirmation_decided").count() == 1
    pending = 50_000 if winner == "approved" else 0
    assert balance_of(approval.tenant) == (0, pending, 0)


@rounds(5)
def test_sweeps_close_an_approval_once_and_before_its_end_people_win(approval, token, round_):
    end = approval.expires_at

    def act(worker):
        if worker % 2:
            return approval_sweeps.expire_due(now=end)
        return approve(token, now=NOW)

    outcomes = together(act, workers=12)

    approval.refresh_from_db()
    closed = sum(outcome for outcome in outcomes if isinstance(outcome, int))
    approved = outcomes.count("approved")
    assert (closed, approved, approval.decision) in {(1, 0, "expired"), (0, 1, "approved")}
    assert FundingEvent.objects.filter(funding=approval.funding_id).count() == 2


def test_12_sweeps_remind_each_approver_once(approval):
    soon = approval.expires_at.replace(day=approval.expires_at.day - 1)

    reminded = together(lambda _: approval_sweeps.remind_due(now=soon), workers=12)

    assert sum(reminded) == 1
    assert OutgoingEmail.objects.filter(template="confirmation_reminder").count() == 2


def test_of_12_resends_one_goes_out(approval):
    later = NOW.replace(hour=16)

    def act(_worker):
        return approvals.resend(
            tenant_id=approval.tenant_id,
            funding_id=approval.funding_id,
            actor=SYSTEM,
            now=later,
        )

    outcomes = together(act, workers=12)

    assert [outcome for outcome in outcomes if isinstance(outcome, list)] == [approval.approvers]
    assert OutgoingEmail.objects.filter(template="confirmation_request").count() == 4
