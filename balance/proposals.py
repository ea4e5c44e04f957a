"""Corrections of balances by two people: one proposes, another one approves or rejects."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from django.db import transaction
from django.db.models import QuerySet

from balance import services
from balance.errors import ProposalDecided, ProposalExpired, ProposalRefused
from balance.models import DESCRIPTION_LENGTH_MAX, AdjustmentProposal, ProposalDecision
from balance.posting import Posting
from common import ids
from common.money import AMOUNT_MAX
from tenants.actors import Actor
from tenants.services import audit, second_person

_APPROVES = "balance.approve_adjustment"
_PROPOSES = "balance.propose_adjustment"


@transaction.atomic
def propose(
    *,
    tenant_id: str,
    type: Literal["credit", "debit"],
    amount: int,
    reason: str,
    actor: Actor,
    now: datetime,
    expires_at: datetime | None = None,
) -> AdjustmentProposal:
    """Ask for a correction of `amount` cents. The tenant sees `reason` once it is approved.

    Raises ProposalRefused.
    """
    if not 1 <= amount <= AMOUNT_MAX:
        raise ProposalRefused("The amount is out of range.", field="amount")
    if expires_at is not None and expires_at <= now:
        raise ProposalRefused("It would be over already.", field="expiresAt")
    proposal = AdjustmentProposal.objects.create(
        tenant_id=tenant_id,
        type=type,
        amount=amount,
        reason=_checked(reason),
        proposed_by_id=actor.id,
        proposed_at=now,
        expires_at=expires_at,
    )
    _audit("proposed", proposal, actor, proposal.reason, now)
    return proposal


@transaction.atomic
def approve(*, proposal_id: str, note: str, actor: Actor, now: datetime) -> Posting:
    """Post the correction, once.

    Raises ProposalDecided, ProposalExpired, ProposalRefused (one's own), NotASecondPerson,
    BalanceOutOfRange.
    """
    proposal = _lock_for(proposal_id, actor)
    second_person.require(
        actor=actor,
        power=_APPROVES,
        proposed_by=proposal.proposed_by_id,
        proposed_at=proposal.proposed_at,
        proposes=_PROPOSES,
    )
    if proposal.expires_at is not None and proposal.expires_at <= now:
        raise ProposalExpired("Its time is over. Propose it again.")
    adjustment_id = ids.new("adj")
    posting = services.adjust(
        tenant_id=proposal.tenant_id,
        type="credit" if proposal.type == "credit" else "debit",
        amount=proposal.amount,
        reason=proposal.reason,
        actor=actor,
        now=now,
        id=adjustment_id,
    )
    proposal.adjustment_id = adjustment_id
    _decide(proposal, ProposalDecision.APPROVED, note, actor, now)
    return posting


@transaction.atomic
def reject(*, proposal_id: str, note: str, actor: Actor, now: datetime) -> None:
    """Close the proposal without posting. Raises ProposalDecided, ProposalRefused (one's own)."""
    proposal = _lock_for(proposal_id, actor)
    _decide(proposal, ProposalDecision.REJECTED, note, actor, now)


def waiting() -> QuerySet[AdjustmentProposal]:
    """Proposals that wait for a second person."""
    return AdjustmentProposal.objects.filter(decision=ProposalDecision.OPEN)


def naming(subject_id: str, *, tenant_id: str) -> QuerySet[AdjustmentProposal]:
    """The proposals for this tenant whose reason names the subject, newest first. Reads all of the
    tenant's, which are few."""
    mine = AdjustmentProposal.objects.filter(tenant_id=tenant_id, reason__contains=subject_id)
    return mine.order_by("-proposed_at", "-pk")


def _lock_for(proposal_id: str, actor: Actor) -> AdjustmentProposal:
    """An open proposal of somebody else, locked until the end of the transaction."""
    proposal = AdjustmentProposal.objects.select_for_update(no_key=True).get(pk=proposal_id)
    if proposal.decision != ProposalDecision.OPEN:
        raise ProposalDecided(f"It was {proposal.decision}.")
    if proposal.proposed_by_id == actor.id:
        raise ProposalRefused("You proposed it, so somebody else decides.")
    return proposal


def _decide(
    proposal: AdjustmentProposal,
    decision: ProposalDecision,
    note: str,
    actor: Actor,
    now: datetime,
) -> None:
    proposal.decision, proposal.decision_note = decision, _checked(note)
    proposal.decided_by_id, proposal.decided_at = actor.id, now
    proposal.save(
        update_fields=("decision", "decision_note", "decided_by", "decided_at", "adjustment")
    )
    _audit(str(decision), proposal, actor, proposal.decision_note, now)


def _checked(text: str) -> str:
    if not 1 <= len(text := text.strip()) <= DESCRIPTION_LENGTH_MAX:
        raise ProposalRefused(f"A reason of 1 to {DESCRIPTION_LENGTH_MAX} characters is needed.")
    return text


def _audit(what: str, proposal: AdjustmentProposal, actor: Actor, note: str, now: datetime) -> None:
    """Write to the part of the audit log that only staff read. The tenant learns of the adjustment
    itself."""
    audit.record(
        tenant_id=None,
        actor=actor,
        action=f"adjustment.{what}",
        subject_id=proposal.pk,
        details={
            "tenantId": proposal.tenant_id,
            "type": str(proposal.type),
            "amount": proposal.amount,
        },
        staff_note=note,
        now=now,
    )
