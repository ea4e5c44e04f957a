"""Asking a second person for what takes two, with its line in the audit log."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from desk import doers
from desk.doers import Doer
from networks.ach import proposing
from networks.ach.models import AchProposal
from networks.ach.models.proposals import ProposalKind
from networks.ach.originating import Company


@transaction.atomic
def propose(
    kind: ProposalKind,
    *,
    rail: str,
    subject: str,
    tenant_id: str = "",
    company: Company | None = None,
    reason: str,
    doer: Doer,
    now: datetime,
) -> AchProposal:
    """Raises StaffRefusal."""
    proposal = proposing.propose(
        kind,
        rail=rail,
        subject=subject,
        tenant_id=tenant_id,
        company=company,
        reason=reason,
        by=doer.name,
        now=now,
    )
    record("proposed", proposal, doer, now, reason)
    return proposal


def record(what: str, proposal: AchProposal, doer: Doer, now: datetime, note: str = "") -> None:
    """Write to the audit log, in the caller's transaction."""
    doers.record(
        doer,
        f"ach_proposal.{what}",
        proposal.pk,
        now=now,
        note=note,
        rail=proposal.rail_id,
        what=ProposalKind(proposal.kind).label,
        about=proposal.subject or proposal.tenant_id,
        after=proposal.after,
    )
