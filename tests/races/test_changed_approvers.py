"""Approvers change while one of them decides, and while workers ask the new ones."""

from __future__ import annotations

import pytest

from approvals import answers, links
from approvals.errors import FormerApprover, LinkEnded, NotAnApprover
from funding.models import Confirmation, ConfirmationLink, FundingEvent, FundingTransaction
from funding.services import approval_sweeps, auto_funding_config, topups
from funding.services.approval_policy import POLICY
from funding.services.lifecycle import TopUp
from tenants.actors import user
from tenants.models import AuditEvent, OutgoingEmail
from tenants.services import emails
from tests.builders import NOW, make_auto_funding, make_source, make_tenant
from tests.races.together import rounds, together

pytestmark = pytest.mark.django_db(transaction=True)

BOSS, NEW = "boss@acme.example", "new@acme.example"
TEAM = user("usr_1")


@pytest.fixture
def approval(db):
    """A top-up that the boss is asked about."""
    tenant = make_tenant()
    source = make_source(tenant)
    make_auto_funding(
        tenant,
        enabled=False,
        confirmation_threshold=0,
        confirm_topups=True,
        confirmation_emails=[BOSS],
    )
    topups.request(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        topup=TopUp(source_id=source.pk, amount=50_000),
        actor=TEAM,
        now=NOW,
    )
    emails.send_due(now=NOW)
    return Confirmation.objects.get()


def token_of(approval, email):
    return links.mint(POLICY, approval, approver_email=email, now=NOW).rstrip("/")[-43:]


def name(approval, *addresses):
    auto_funding_config.configure(
        tenant_id=approval.tenant_id,
        changes={"confirmation_emails": list(addresses)},
        actor=TEAM,
        now=NOW,
    )
    return "changed"


def approve(token):
    answers.approve(token=token, typed_amount="$500.00", now=NOW)
    return "approved"


def decline(token):
    answers.decline(token=token, reason="no", now=NOW)
    return "declined"


@rounds(10, quick=2)
@pytest.mark.parametrize("answer", [approve, decline])
def test_the_former_approver_decides_before_the_change_or_not_at_all(approval, answer, round_):
    token, status = token_of(approval, BOSS), {approve: "reserved", decline: "failed"}[answer]
    acts = [lambda: answer(token), lambda: name(approval, NEW)]

    answered, changed = together(lambda worker: acts[worker](), workers=2)

    assert changed == "changed"
    approval.refresh_from_db()
    funding = FundingTransaction.objects.get()
    if isinstance(answered, str):
        assert (approval.decision, approval.decided_by) == (answered, BOSS)
        assert funding.status == status
    else:
        assert isinstance(answered, NotAnApprover | FormerApprover), answered
        assert (approval.decision, funding.status) == ("open", "awaiting_confirmation")
        assert answer(token_of(approval, NEW)) == answered_by(approval, NEW)


def answered_by(approval, email):
    approval.refresh_from_db()
    assert approval.decided_by == email
    return approval.decision


@rounds(5)
def test_the_former_and_the_new_one_answer_at_once_and_one_wins(approval, round_):
    old, new = token_of(approval, BOSS), token_of(approval, NEW)
    name(approval, BOSS, NEW)

    def act(worker):
        if worker == 0:
            return name(approval, NEW)
        return (approve, decline)[worker % 2]((old, new)[worker // 2 % 2])

    outcomes = together(act, workers=12)

    winners = [outcome for outcome in outcomes[1:] if isinstance(outcome, str)]
    assert len(winners) == 1
    approval.refresh_from_db()
    assert approval.decision == winners[0]
    assert FundingEvent.objects.filter(funding=approval.funding_id).count() == 2
    lines = AuditEvent.objects.filter(action__in=("confirmation.approved", "confirmation.declined"))
    assert [line.action for line in lines] == [f"confirmation.{winners[0]}"]


def test_12_sweeps_ask_the_new_one_once(approval):
    name(approval, NEW)

    together(lambda _: approval_sweeps.sweep(now=NOW), workers=12)
    emails.send_due(now=NOW)

    mails = OutgoingEmail.objects.filter(template="confirmation_request", to=NEW)
    assert mails.count() == 1
    assert AuditEvent.objects.filter(action="confirmation.asked").count() == 1
    (link,) = ConfirmationLink.objects.filter(approver_email=NEW)
    assert link.confirmation == approval
    with pytest.raises(LinkEnded):
        approve(token_of(approval, BOSS))
