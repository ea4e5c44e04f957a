"""Two people correct a balance: one proposes, another one decides, and it is posted once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import DatabaseError, IntegrityError, transaction
from django.urls import reverse

from balance import invariants, proposals, selectors
from balance.errors import ProposalDecided, ProposalExpired, ProposalRefused
from balance.models import Adjustment, AdjustmentProposal, BalanceTransaction
from tenants import actors
from tenants.models import AuditEvent, User
from tests.builders import NOW, enter_as, make_staff
from tests.database import owner
from tests.races.together import together


@pytest.fixture
def ann(db):
    return make_staff("ann@ballast.example")


@pytest.fixture
def ben(db):
    return make_staff("ben@ballast.example")


def available_of(tenant):
    return selectors.summary(tenant.pk).available


def propose(tenant, by, **changes):
    values: dict[str, Any] = {
        "type": "credit",
        "amount": 500,
        "reason": "Fee charged twice",
        "now": NOW,
    }
    return proposals.propose(tenant_id=tenant.pk, actor=actors.staff(by.pk), **(values | changes))


def approve(proposal, by, now=NOW):
    return proposals.approve(
        proposal_id=proposal.pk, note="Checked the file", actor=actors.staff(by.pk), now=now
    )


def reject(proposal, by):
    proposals.reject(
        proposal_id=proposal.pk, note="No such fee", actor=actors.staff(by.pk), now=NOW
    )


class TestApproving:
    @pytest.mark.parametrize(("type", "available"), [("credit", 500), ("debit", -500)])
    def test_posts_it_and_says_who_did_what(self, acme, ann, ben, type, available):
        proposal = propose(acme, ann, type=type)
        assert available_of(acme) == 0

        posting = approve(proposal, ben)

        proposal.refresh_from_db()
        assert available_of(acme) == available
        assert (proposal.decision, proposal.decided_by, proposal.decided_at) == (
            "approved",
            ben,
            NOW,
        )
        row = BalanceTransaction.objects.get(pk=posting.id)
        assert (row.source_id, row.description) == (proposal.adjustment_id, "Fee charged twice")
        audited = AuditEvent.objects.filter(subject_id=proposal.pk).order_by("pk")
        assert [(event.action, event.actor_id, event.staff_note) for event in audited] == [
            ("adjustment.proposed", ann.pk, "Fee charged twice"),
            ("adjustment.approved", ben.pk, "Checked the file"),
        ]
        assert {event.tenant_id for event in audited} == {None}
        assert invariants.check(now=NOW, full=True).findings == []

    def test_is_never_for_oneself(self, acme, ann):
        proposal = propose(acme, ann)

        for decide in (approve, reject):
            with pytest.raises(ProposalRefused):
                decide(proposal, ann)

        assert (available_of(acme), Adjustment.objects.count()) == (0, 0)

    def test_happens_once(self, acme, ann, ben):
        proposal = propose(acme, ann)
        approve(proposal, ben)

        for decide in (approve, reject):
            with pytest.raises(ProposalDecided):
                decide(proposal, ben)

        assert available_of(acme) == 500

    def test_is_too_late_after_its_end(self, acme, ann, ben):
        proposal = propose(acme, ann, expires_at=NOW + timedelta(days=1))

        with pytest.raises(ProposalExpired):
            approve(proposal, ben, now=NOW + timedelta(days=1))

        assert not Adjustment.objects.exists()

    @pytest.mark.django_db(transaction=True)
    def test_at_once_by_many_posts_once(self, acme, ann):
        staff = [make_staff(f"s{number}@ballast.example") for number in range(4)]
        proposal = propose(acme, ann)

        outcomes = together(lambda worker: attempt(approve, proposal, staff[worker]), workers=4)

        assert sorted(outcomes) == ["ProposalDecided"] * 3 + ["done"]
        assert (available_of(acme), Adjustment.objects.count()) == (500, 1)

    @pytest.mark.django_db(transaction=True)
    def test_and_a_rejection_at_once_have_one_winner(self, acme, ann, ben):
        proposal = propose(acme, ann)
        acts = [approve, reject]

        outcomes = together(lambda worker: attempt(acts[worker], proposal, ben), workers=2)

        proposal.refresh_from_db()
        assert sorted(outcomes) == ["ProposalDecided", "done"]
        assert available_of(acme) == (500 if proposal.decision == "approved" else 0)


def attempt(act, *arguments):
    try:
        act(*arguments)
    except ProposalDecided as refusal:
        return type(refusal).__name__
    return "done"


class TestRejecting:
    def test_posts_nothing(self, acme, ann, ben):
        proposal = propose(acme, ann)

        reject(proposal, ben)

        proposal.refresh_from_db()
        assert (proposal.decision, proposal.decision_note) == ("rejected", "No such fee")
        assert not Adjustment.objects.exists()


class TestProposing:
    @pytest.mark.parametrize(
        "changes",
        [{"amount": 0}, {"amount": 10**15 + 1}, {"reason": " "}, {"expires_at": NOW}],
    )
    def test_needs_an_amount_a_reason_and_time(self, acme, ann, changes):
        with pytest.raises(ProposalRefused):
            propose(acme, ann, **changes)

        assert not AdjustmentProposal.objects.exists()


class TestDatabase:
    def test_knows_the_rules_too(self, acme, ann, ben):
        proposal = propose(acme, ann)
        rows = AdjustmentProposal.objects.filter(pk=proposal.pk)
        for change in (
            {"amount": 1},
            {"decision": "rejected", "decided_by": ann, "decided_at": NOW},
            {"decision": "approved", "decided_by": ben, "decided_at": NOW},
        ):
            with (
                owner.as_owner(),
                pytest.raises((DatabaseError, IntegrityError)),
                transaction.atomic(),
            ):
                rows.update(**change)
        reject(proposal, ben)

        with owner.as_owner(), pytest.raises(DatabaseError), transaction.atomic():
            rows.update(decision="open", decided_by=None, decided_at=None)


class TestDesk:
    ADD = "admin:balance_adjustmentproposal_add"

    def sign_in(self, client, user, *codenames):
        wanted = ("view_adjustmentproposal", "view_tenant", *codenames)
        user.user_permissions.set(Permission.objects.filter(codename__in=wanted))
        enter_as(client, user)

    def body(self, tenant):
        return {
            "tenant": tenant.pk,
            "type": "debit",
            "amount": "$1,234.56",
            "reason": "Paid twice",
            "expires_at_0": "",
            "expires_at_1": "",
        }

    def test_one_proposes_and_the_other_approves(self, client, acme, ann, ben):
        self.sign_in(client, ann, "propose_adjustment", "approve_adjustment")
        client.post(reverse(self.ADD), self.body(acme))
        proposal = AdjustmentProposal.objects.get()
        assert (proposal.amount, proposal.proposed_by) == (123_456, ann)
        approval = reverse("admin:balance_adjustmentproposal_approve", args=[proposal.pk])
        page = reverse("admin:balance_adjustmentproposal_change", args=[proposal.pk])
        assert approval not in client.get(page).content.decode()
        told = client.post(approval, {"reason": "Mine"}, follow=True).content.decode()
        assert "somebody else decides" in told

        self.sign_in(client, ben, "approve_adjustment")
        assert approval in client.get(page).content.decode()
        assert "$0.00 to -$1,234.56" in client.get(approval).content.decode()
        client.post(approval, {"reason": "Looked it up"})

        assert available_of(acme) == -123_456

    def test_permissions_are_apart(self, client, acme):
        ann, ben = (
            User.objects.create_user(email=f"{name}@ballast.example", is_staff=True)
            for name in ("amy", "bob")
        )
        self.sign_in(client, ann, "approve_adjustment")
        assert client.post(reverse(self.ADD), self.body(acme)).status_code == 403

        proposal = propose(acme, ann)
        self.sign_in(client, ben, "propose_adjustment")
        address = reverse("admin:balance_adjustmentproposal_approve", args=[proposal.pk])
        assert client.post(address, {"reason": "x"}).status_code == 403

        proposal.refresh_from_db()
        assert proposal.decision == "open"

    def test_says_what_is_wrong_with_an_amount(self, client, acme, ann):
        self.sign_in(client, ann, "propose_adjustment")

        answer = client.post(reverse(self.ADD), {**self.body(acme), "amount": "1.234,56"})

        assert "An amount such as 1,234.56." in answer.content.decode()
