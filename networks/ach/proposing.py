"""What takes two people: the word that a bank has a file or not, where its sending is in doubt;
another name or higher limits of an originator; debits that go on after too many came back; a bank
statement that is never taken; and one that a person uploaded.

One proposes it. Another one approves it, and it is done in the same transaction, unless what it is
about has changed since: then the proposal is about something else, and is not approved. The caller
writes the audit log (decision 0158).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db import IntegrityError, transaction

from common.errors import StaffRefusal
from networks.ach import originating, sending
from networks.ach.inbound import deciding
from networks.ach.models import AchProposal
from networks.ach.models.columns import REASON_LENGTH_MAX
from networks.ach.models.proposals import ProposalKind
from networks.ach.originating import Company
from networks.ach.states import PROPOSAL_STATES, ProposalStatus


class ProposalRefused(StaffRefusal):
    code = "ach_proposal_refused"
    title = "Not possible"
    advice = "Look at it again: somebody else may have been first."


@dataclass(frozen=True)
class _Act:
    """`standing` says how the subject is now, and may raise StaffRefusal; `do` does it. `leave`
    is what a rejection does, for the reason that it gives; mostly nothing."""

    standing: Callable[[AchProposal], Mapping[str, Any]]
    do: Callable[[AchProposal, datetime], object]
    leave: Callable[[AchProposal, str, datetime], object] = lambda proposal, why, now: None


def _doubt(proposal: AchProposal) -> dict[str, Any]:
    """Which attempt to send the file is in doubt."""
    file = sending.in_doubt(proposal.subject)
    stuck_at = file.stuck_at.isoformat() if file.stuck_at else ""
    return {"temporary_name": file.temporary_name, "stuck_at": stuck_at}


def _company(proposal: AchProposal) -> Mapping[str, Any]:
    if proposal.after:
        originating.require_plain(Company(**proposal.after))
    found = originating.company_of(rail=proposal.rail_id, tenant_id=proposal.tenant_id)
    return asdict(found) if found else {}


def _assign(proposal: AchProposal, now: datetime) -> object:
    return originating.assign(
        rail=proposal.rail_id,
        tenant_id=proposal.tenant_id,
        company=Company(**proposal.after),
        now=now,
    )


def _stop(proposal: AchProposal) -> dict[str, Any]:
    """Since when debits are stopped, and why."""
    since, why = originating.stop_of_debits(proposal.subject)
    return {"since": since.isoformat(), "why": why}


def _set_aside(proposal: AchProposal) -> dict[str, Any]:
    """Why a bank statement was set aside."""
    file = deciding.waiting_statement(proposal.subject)
    return {"faults": [fault["code"] for fault in file.faults]}


def _dismiss(proposal: AchProposal, now: datetime) -> object:
    return deciding.dismiss_statement(
        file_id=proposal.subject, staff=proposal.proposed_by, why=proposal.reason, now=now
    )


def _upload(proposal: AchProposal) -> dict[str, Any]:
    """Which bytes somebody uploaded."""
    return {"sha256": deciding.uploaded_statement(proposal.subject).sha256}


def _reject_upload(proposal: AchProposal, why: str, now: datetime) -> object:
    return deciding.reject_upload(
        file_id=proposal.subject, staff=proposal.decided_by, why=why, now=now
    )


_ACTS: Mapping[str, _Act] = MappingProxyType(
    {
        ProposalKind.AT_BANK: _Act(
            _doubt, lambda proposal, now: sending.at_bank(proposal.subject, now=now)
        ),
        ProposalKind.NOT_AT_BANK: _Act(
            _doubt, lambda proposal, now: sending.not_at_bank(proposal.subject, now=now)
        ),
        ProposalKind.ORIGINATOR: _Act(_company, _assign),
        ProposalKind.END_ORIGINATOR: _Act(
            _company, lambda proposal, now: originating.end(originator_id=proposal.subject, now=now)
        ),
        ProposalKind.RELEASE_DEBITS: _Act(
            _stop,
            lambda proposal, now: deciding.release_debits(originator_id=proposal.subject, now=now),
        ),
        ProposalKind.DISMISS_STATEMENT: _Act(_set_aside, _dismiss),
        ProposalKind.TAKE_STATEMENT: _Act(
            _upload,
            lambda proposal, now: deciding.release_upload(file_id=proposal.subject, now=now),
            leave=_reject_upload,
        ),
    }
)


@transaction.atomic
def propose(
    kind: ProposalKind,
    *,
    rail: str,
    subject: str,
    tenant_id: str = "",
    company: Company | None = None,
    reason: str,
    by: str,
    now: datetime,
) -> AchProposal:
    """Ask another person. Nothing changes before. Raises StaffRefusal."""
    if not 1 <= len(text := reason.strip()) <= REASON_LENGTH_MAX:
        raise ProposalRefused(f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.")
    proposal = AchProposal(
        rail_id=rail,
        kind=kind,
        subject=subject,
        tenant_id=tenant_id,
        after=asdict(company) if company else {},
        reason=text,
        proposed_by=by,
        proposed_at=now,
    )
    proposal.before = dict(_ACTS[kind].standing(proposal))
    try:
        with transaction.atomic():
            proposal.save(force_insert=True)
    except IntegrityError as error:
        raise ProposalRefused("Something about it waits for a second person already.") from error
    return proposal


@transaction.atomic
def approve(proposal_id: str, *, by: str, now: datetime) -> AchProposal:
    """Do it. Raises StaffRefusal, also if it is one's own, or not what was proposed any more."""
    proposal = _decidable(proposal_id, by)
    act = _ACTS[proposal.kind]
    if act.standing(proposal) != proposal.before:
        raise ProposalRefused("It has changed since: reject this, and propose it anew.")
    PROPOSAL_STATES.advance(proposal, ProposalStatus.APPROVED, decided_by=by, decided_at=now)
    act.do(proposal, now)
    return proposal


@transaction.atomic
def reject(proposal_id: str, *, by: str, why: str = "", now: datetime) -> AchProposal:
    """Leave everything as it is; an upload is never taken then, and `why` says the reason. Raises
    StaffRefusal."""
    proposal = _decidable(proposal_id, by)
    PROPOSAL_STATES.advance(proposal, ProposalStatus.REJECTED, decided_by=by, decided_at=now)
    _ACTS[proposal.kind].leave(proposal, why, now)
    return proposal


def _decidable(proposal_id: str, by: str) -> AchProposal:
    """The proposal, locked before what it is about. Raises ProposalRefused."""
    rows = AchProposal.objects.select_for_update(no_key=True)
    proposal = rows.filter(pk=proposal_id).first()
    if proposal is None:
        raise ProposalRefused("There is no such proposal.")
    if not proposal.is_open:
        raise ProposalRefused(f"It was {proposal.status}.")
    if proposal.proposed_by == by:
        raise ProposalRefused("You proposed it, so somebody else decides.")
    return proposal
