"""Approvals as people see them: what waits, and how others ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from approvals.models import Approval, ApprovalStatus
from approvals.selectors import ApprovalView
from balance import selectors as ledger
from common.money import format_cents
from dashboard.approvals.deciders import asked_words
from dashboard.bank_accounts.names import bank_name
from dashboard.shell.badges import Badge
from payments import selectors as payments
from payments.states import PaymentStatus

NOBODY: Mapping[str, datetime] = MappingProxyType({})
_ENDS = {
    ApprovalStatus.OPEN: Badge("Waiting", "warn"),
    ApprovalStatus.APPROVED: Badge("Approved", "good"),
    ApprovalStatus.DECLINED: Badge("Declined", "bad"),
    ApprovalStatus.EXPIRED: Badge("Expired"),
    ApprovalStatus.SUPERSEDED: Badge("Withdrawn"),
}


@dataclass(frozen=True)
class ApprovalLine:
    """One approval, of a payment or of funding. `asked` is a sentence: who can approve it. `end`
    says in words how it ended."""

    id: str
    kind: str
    title: str
    what: str
    account: str
    amount: int
    why: str
    asked: str
    is_new_among: bool
    asks_you: bool
    asked_at: datetime
    expires_at: datetime
    badge: Badge
    end: str
    ended_at: datetime | None


def approval_line(
    view: ApprovalView, *, email: str, new: Mapping[str, datetime] = NOBODY
) -> ApprovalLine:
    """The line of one approval for the reader with this `email`. `new` are the approvers who cannot
    approve payments yet, with the moment from which each can."""
    account = bank_name(view.bank_name, view.last4)
    is_payment = view.kind == "payment"
    return ApprovalLine(
        id=view.id,
        kind=view.kind,
        title=_title(view),
        what=f"Pay {view.holder_name}" if is_payment else "Add to the balance",
        account=f"to {account}" if is_payment else f"from {account}",
        amount=view.amount,
        why=view.reason,
        asked=asked_words(view.approvers, later=new if is_payment else NOBODY),
        is_new_among=is_payment and any(address in new for address in view.approvers),
        asks_you=email.casefold() in {address.casefold() for address in view.approvers},
        asked_at=view.requested_at,
        expires_at=view.expires_at,
        badge=_ENDS[ApprovalStatus(view.state)],
        end=_ending(ApprovalStatus(view.state), view),
        ended_at=view.decided_at,
    )


@dataclass(frozen=True)
class ApprovalFact:
    """How the approval of one row stands: `Approved by cfo@…`, and when."""

    badge: Badge
    end: str
    at: datetime | None


def approval_fact(approval: Approval | None) -> ApprovalFact | None:
    """How `approval` stands, in words; None where nobody was asked."""
    if approval is None:
        return None
    state = ApprovalStatus(approval.decision)
    end = "" if state == ApprovalStatus.OPEN else _ending(state, approval)
    return ApprovalFact(_ENDS[state], end, approval.decided_at)


def prospect(view: ApprovalView) -> str:
    """What keeps a payment from being sent although it is, or would be, approved; empty where
    nothing does, and for what adds money."""
    if view.kind != "payment" or view.state not in (ApprovalStatus.OPEN, ApprovalStatus.APPROVED):
        return ""
    payment = payments.payment(tenant_id=view.tenant_id, payment_id=view.subject_id)
    if not payment.is_unsent:
        return ""
    approved = "Once approved, it" if view.state == ApprovalStatus.OPEN else "It"
    if payment.status == PaymentStatus.WAITING_FOR_FUNDS:
        return f"{approved} waits until the balance covers it."
    if ledger.summary(view.tenant_id).available < 0:
        return (
            "The available balance is below zero, so nothing is sent."
            f" {approved} is held back, and we send it once the available balance is no longer"
            " below zero."
        )
    return ""


def approved_words(view: ApprovalView) -> str:
    """Tell whoever has just approved it what was approved, and what happens next."""
    amount = format_cents(view.amount)
    if view.kind == "payment":
        return (
            f"You approved the payment of {amount} to {view.holder_name}. Its timeline shows when"
            " it is sent and when it arrives."
        )
    return (
        f"You approved adding {amount} to the balance. We collect it from"
        f" {bank_name(view.bank_name, view.last4)}, and it is available when it has arrived."
    )


def declined_words(view: ApprovalView) -> str:
    """Tell whoever has just declined it what was declined, and that no money moves."""
    amount = format_cents(view.amount)
    if view.kind == "payment":
        return (
            f"You declined the payment of {amount} to {view.holder_name}. Nothing is sent, and your"
            " team sees your reason."
        )
    return (
        f"You declined adding {amount} to the balance. Nothing is collected, and your team sees"
        " your reason."
    )


def _title(view: ApprovalView) -> str:
    if view.kind == "payment":
        return f"Pay {format_cents(view.amount)} to {view.holder_name}"
    return f"Add {format_cents(view.amount)} to the balance"


def _ending(state: ApprovalStatus, of: ApprovalView | Approval) -> str:
    if state == ApprovalStatus.APPROVED:
        return f"by {of.decided_by}"
    if state == ApprovalStatus.DECLINED:
        return f"by {of.decided_by}: {of.decline_reason}"
    if state == ApprovalStatus.EXPIRED:
        return "Nobody decided in time."
    return "It was canceled, or its terms changed."
