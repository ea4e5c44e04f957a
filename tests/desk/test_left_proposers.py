"""What a colleague proposed who was dismissed since is approved by nobody (decision 0192)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse

from balance import proposals, selectors
from tenants import actors
from tenants.access import AccessDecision, AccessKind
from tenants.actors import SYSTEM
from tenants.errors import ProposerLeft
from tenants.models import Invitation
from tenants.services import access, staff
from tests.builders import NOW, browser_of, make_member, make_staff
from tests.races.together import rounds, together

A_DAY = timedelta(hours=24)
GONE = "Whoever proposed it does not work here any more."


@pytest.fixture
def ann(db):
    return make_staff("ann@ballast.example")


@pytest.fixture
def ben(db):
    return make_staff("ben@ballast.example")


def propose_owner(tenant, by):
    make_member(tenant, email="dana@acme.example")
    return access.propose(
        kind=AccessKind.MEMBER,
        email="lee@acme.example",
        tenant=tenant,
        role="owner",
        reason="The owner asked in writing",
        actor=actors.staff(by.pk),
        now=NOW,
    )


def propose_credit(tenant, by):
    return proposals.propose(
        tenant_id=tenant.pk,
        type="credit",
        amount=500,
        reason="Fee charged twice",
        actor=actors.staff(by.pk),
        now=NOW,
    )


def approve(services, proposal, by):
    services.approve(
        proposal_id=proposal.pk,
        note="Called back",
        actor=actors.staff(by.pk),
        now=proposal.proposed_at + A_DAY,
    )


def dismiss(person):
    staff.end(user_id=person.pk, actor=SYSTEM, now=NOW)


def test_access_is_not_given(acme, ann, ben):
    """Found: a second person gave a stranger the access that a dismissed one had proposed."""
    proposal = propose_owner(acme, ann)
    dismiss(ann)

    with pytest.raises(ProposerLeft, match=GONE):
        approve(access, proposal, ben)

    proposal.refresh_from_db()
    assert proposal.decision == AccessDecision.OPEN
    assert not Invitation.objects.exists()


def test_a_correction_is_not_posted(acme, ann, ben):
    proposal = propose_credit(acme, ann)
    dismiss(ann)

    with pytest.raises(ProposerLeft, match=GONE):
        approve(proposals, proposal, ben)

    assert selectors.summary(acme.pk).available == 0


def test_nor_when_they_have_another_role_now(acme, ann, ben):
    proposal = propose_credit(acme, ann)
    dismiss(ann)
    make_staff("guest@ballast.example", ["ach.view_achentry"])
    staff.grant(
        email=ann.email, roles=["May ach.view_achentry"], actor=SYSTEM, now=NOW, operator="ops"
    )

    with pytest.raises(ProposerLeft, match="has no role any more that may propose it"):
        approve(proposals, proposal, ben)

    assert selectors.summary(acme.pk).available == 0


def test_it_can_be_rejected(acme, ann, ben):
    proposal = propose_owner(acme, ann)
    dismiss(ann)

    access.reject(proposal_id=proposal.pk, note="Ann left", actor=actors.staff(ben.pk), now=NOW)

    proposal.refresh_from_db()
    assert proposal.decision == AccessDecision.REJECTED


def test_its_page_says_so(acme, ann, ben):
    proposal = propose_credit(acme, ann)
    dismiss(ann)

    address = reverse("admin:balance_adjustmentproposal_change", args=[proposal.pk])
    page = browser_of(ben, factor="totp").get(address).content.decode()

    assert f"{GONE} Reject it. Somebody who may can propose it anew." in page
    assert "You can approve it" not in page


@pytest.mark.django_db(transaction=True)
@rounds(5)
def test_two_approve_what_the_other_one_proposed(acme, round_):
    """Each holds both accounts, in one order."""
    people = [make_staff(f"{name}@ballast.example") for name in ("ann", "ben")]
    waiting = [propose_credit(acme, person) for person in people]

    outcomes = together(
        lambda worker: approve(proposals, waiting[worker], people[1 - worker]), workers=2
    )

    assert outcomes == [None, None]
    assert selectors.summary(acme.pk).available == 1_000
