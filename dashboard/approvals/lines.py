"""Questions to approvers as people see them: what waits, and how others ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from approvals.decisions import QuestionView
from approvals.models import Decision, Question
from balance import selectors as ledger
from common.money import format_cents
from dashboard.auto_funding.state import people
from dashboard.shell.context import Badge, bank_name
from payments import selectors as payments
from payments.states import PaymentStatus

_ENDS = {
    Decision.OPEN: Badge("Waiting", "warn"),
    Decision.APPROVED: Badge("Approved", "good"),
    Decision.DECLINED: Badge("Declined", "bad"),
    Decision.EXPIRED: Badge("Expired"),
    Decision.SUPERSEDED: Badge("Withdrawn"),
}


@dataclass(frozen=True)
class ApprovalLine:
    """One question, whatever kind of money it is about. `end` says how it ended, in words."""

    id: str
    kind: str
    title: str
    what: str
    account: str
    amount: int
    why: str
    asked: str
    asks_you: bool
    asked_at: datetime
    expires_at: datetime
    badge: Badge
    end: str
    ended_at: datetime | None


def approval_line(view: QuestionView, *, email: str) -> ApprovalLine:
    """`email` is the address of whoever looks at it."""
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
        asked=people(view.approvers),
        asks_you=email.casefold() in {address.casefold() for address in view.approvers},
        asked_at=view.requested_at,
        expires_at=view.expires_at,
        badge=_ENDS[Decision(view.state)],
        end=_end(view),
        ended_at=view.decided_at,
    )


@dataclass(frozen=True)
class ApprovalFact:
    """How the question about one row stands: `Approved by cfo@…`, and when."""

    badge: Badge
    end: str
    at: datetime | None


def approval_fact(question: Question | None) -> ApprovalFact | None:
    """None where nobody was asked."""
    if question is None:
        return None
    state = Decision(question.decision)
    end = "" if state == Decision.OPEN else _ending(state, question)
    return ApprovalFact(_ENDS[state], end, question.decided_at)


def prospect(view: QuestionView) -> str:
    """What keeps a payment from being sent although it is, or would be, approved; empty where
    nothing does, and for what adds money."""
    if view.kind != "payment" or view.state not in (Decision.OPEN, Decision.APPROVED):
        return ""
    payment = payments.payment(tenant_id=view.tenant_id, payment_id=view.subject_id)
    if not payment.is_unsent:
        return ""
    approved = "Once approved it" if view.state == Decision.OPEN else "It"
    if payment.status == PaymentStatus.WAITING_FOR_FUNDS:
        return f"{approved} waits for money: it is sent when the balance covers it."
    if ledger.summary(view.tenant_id).available < 0:
        return (
            "The available balance is below zero, so nothing is sent."
            f" {approved} is held back, and goes out by itself when available is back at $0.00."
        )
    return ""


def _title(view: QuestionView) -> str:
    if view.kind == "payment":
        return f"Pay {format_cents(view.amount)} to {view.holder_name}"
    return f"Add {format_cents(view.amount)} to the balance"


def _end(view: QuestionView) -> str:
    return _ending(Decision(view.state), view)


def _ending(state: Decision, of: QuestionView | Question) -> str:
    if state == Decision.APPROVED:
        return f"by {of.decided_by}"
    if state == Decision.DECLINED:
        return f"by {of.decided_by}: {of.decline_reason}"
    if state == Decision.EXPIRED:
        return "Nobody decided in time."
    return "Canceled, or its terms changed."
