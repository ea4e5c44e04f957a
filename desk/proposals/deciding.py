"""What the second person does: the act is done with its usual line in the audit log, or is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType

from django.db import transaction

from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from desk.files import acts as files
from desk.proposals import asking
from networks.ach import proposing
from networks.ach.models import AchProposal, Originator
from networks.ach.models.proposals import ProposalKind

APPROVES = "ach.release_outfile"
# What it takes to propose it, where whoever did must have it still when it is approved.
_PROPOSES: Mapping[str, str] = MappingProxyType(
    {ProposalKind.TAKE_STATEMENT: "reconciliation.upload_bankstatement"}
)
_Record = Callable[[AchProposal, Doer, datetime], None]


def found(proposal_id: str) -> AchProposal:
    """Raises NotFound."""
    rows = AchProposal.objects.filter(pk=proposal_id)
    proposal = rows.first() if "\0" not in proposal_id else None
    if proposal is None:
        raise NotFound("There is no such proposal.")
    return proposal


@transaction.atomic
def approve(*, proposal: AchProposal, doer: Doer, now: datetime) -> None:
    """Raises StaffRefusal."""
    approved = proposing.approve(proposal.pk, by=doer.name, now=now)
    doers.require_second(doer, APPROVES, approved, proposes=_PROPOSES.get(approved.kind, ""))
    asking.record("approved", approved, doer, now)
    _RECORDS[approved.kind](approved, doer, now)


@transaction.atomic
def reject(*, proposal: AchProposal, reason: str = "", doer: Doer, now: datetime) -> None:
    """An upload needs a reason. Raises StaffRefusal."""
    rejected = proposing.reject(proposal.pk, by=doer.name, why=reason, now=now)
    asking.record("rejected", rejected, doer, now, reason)


def _of_file(what: str) -> _Record:
    def record(proposal: AchProposal, doer: Doer, now: datetime) -> None:
        file = files.found_file(proposal.subject)
        files.record(what, file, doer, now, proposal.reason, proposalId=proposal.pk)

    return record


def _dismissed(proposal: AchProposal, doer: Doer, now: datetime) -> None:
    details = {"rail": proposal.rail_id, "proposalId": proposal.pk}
    doers.record(
        doer,
        "bank_statement.dismissed",
        proposal.subject,
        now=now,
        note=proposal.reason,
        **details,
    )


def _taken(proposal: AchProposal, doer: Doer, now: datetime) -> None:
    details = {"rail": proposal.rail_id, "proposalId": proposal.pk, **proposal.before}
    doers.record(
        doer,
        "bank_statement.approved",
        proposal.subject,
        now=now,
        note=proposal.reason,
        **details,
    )


def _assigned(proposal: AchProposal, doer: Doer, now: datetime) -> None:
    rows = Originator.objects.filter(rail=proposal.rail_id, tenant_id=proposal.tenant_id)
    row = rows.get(ended_at=None)
    details = {
        "rail": proposal.rail_id,
        "tenantId": proposal.tenant_id,
        "proposalId": proposal.pk,
        **proposal.after,
    }
    doers.record(doer, "originator.assigned", row.pk, now=now, note=proposal.reason, **details)


def _of_originator(what: str) -> _Record:
    def record(proposal: AchProposal, doer: Doer, now: datetime) -> None:
        row = Originator.objects.get(pk=proposal.subject)
        details = {
            "rail": row.rail_id,
            "company_name": row.company_name,
            "why": proposal.before.get("why", ""),
            "proposalId": proposal.pk,
        }
        doers.record(doer, f"originator.{what}", row.pk, now=now, note=proposal.reason, **details)

    return record


_RECORDS: Mapping[str, _Record] = MappingProxyType(
    {
        ProposalKind.AT_BANK: _of_file("at_bank"),
        ProposalKind.NOT_AT_BANK: _of_file("not_at_bank"),
        ProposalKind.ORIGINATOR: _assigned,
        ProposalKind.END_ORIGINATOR: _of_originator("ended"),
        ProposalKind.RELEASE_DEBITS: _of_originator("debits_went_on"),
        ProposalKind.DISMISS_STATEMENT: _dismissed,
        ProposalKind.TAKE_STATEMENT: _taken,
    }
)
