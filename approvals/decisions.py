"""What an approver sees and does: by magic link without an account, or signed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from approvals import links, matters, outcomes
from approvals.errors import (
    AmountMismatch,
    ConfirmationClosed,
    NotAnApprover,
    UnknownConfirmation,
)
from approvals.matters import Decider, Matter
from approvals.models import Decision, MagicLink, Question
from approvals.requests import REASON_LENGTH_MAX
from common.ids import is_id
from common.money import format_cents, parse_dollars
from tenants import actors
from tenants.errors import TenantSuspended
from tenants.models import TenantStatus
from tenants.services import switches

OPEN_MAX = 100


@dataclass(frozen=True, kw_only=True)
class QuestionView:
    """What a page about a question shows. `amount` is cents; `state` is a Decision."""

    id: str
    kind: str
    tenant_id: str
    tenant_name: str
    amount: int
    holder_name: str
    bank_name: str
    last4: str
    reason: str
    requested_at: datetime
    expires_at: datetime
    approvers: tuple[str, ...]
    state: str
    decided_by: str
    decided_at: datetime | None
    decline_reason: str
    subject_id: str
    approver_email: str = ""


def look_up(*, token: str, now: datetime) -> QuestionView | None:
    """What the holder of this link may see; None for a link we never made. Changes nothing."""
    found = links.find(token)
    if found is None:
        return None
    matter, link = found
    question = matter.questions().get(pk=link.confirmation_id)
    return _view(matter, question, now, approver_email=link.approver_email)


def unanswered(*, tenant_id: str, now: datetime) -> list[QuestionView]:
    """The tenant's questions that can still be decided, those that end first in front.

    At most OPEN_MAX of each kind: nobody decides more by hand.
    """
    views = [
        _view(matter, question, now)
        for matter in matters.every()
        for question in matter.questions()
        .filter(tenant_id=tenant_id, decision=Decision.OPEN, expires_at__gt=now)
        .order_by("expires_at", "pk")[:OPEN_MAX]
    ]
    return sorted(views, key=lambda view: (view.expires_at, view.id))


def decided(*, tenant_id: str, now: datetime, size: int, before: str = "") -> list[QuestionView]:
    """At most `size` closed questions, the last decision first: those behind the one of id
    `before`, else the latest. Raises UnknownConfirmation."""
    position = _of(tenant_id, before)[1] if before else None
    if position is not None and position.decided_at is None:
        raise UnknownConfirmation("Nobody has decided this request.")
    views: list[QuestionView] = []
    for matter in matters.every():
        rows = matter.questions().filter(tenant_id=tenant_id).exclude(decision=Decision.OPEN)
        if position is not None:
            behind = Q(decided_at__lt=position.decided_at) | Q(pk__lt=position.pk)
            rows = rows.filter(behind, decided_at__lte=position.decided_at)
        views += [_view(matter, row, now) for row in rows.order_by("-decided_at", "-pk")[:size]]
    return sorted(views, key=_decision_order, reverse=True)[:size]


def find(
    *, tenant_id: str, confirmation_id: str, email: str, now: datetime
) -> tuple[QuestionView, bool]:
    """One question of the tenant, and whether the person of this address may decide it.

    Raises UnknownConfirmation.
    """
    matter, question = _of(tenant_id, confirmation_id)
    view = _view(matter, question, now)
    may_decide = view.state == Decision.OPEN and _was_asked(matter, question, email)
    return view, may_decide


def approve(*, token: str, typed_amount: str, now: datetime) -> None:
    """Let the money move, in the name of the link's approver who typed its amount.

    Raises UnknownConfirmation, ConfirmationClosed, AmountMismatch, TenantSuspended, and what the
    matter's `allow` raises. A question whose terms nobody wants any more is withdrawn; then
    ConfirmationClosed.
    """
    matter, link = _link(token)
    _approve(matter, link.confirmation_id, _holder(link), typed_amount, now)


def decline(*, token: str, reason: str, now: datetime) -> None:
    """Stop it for good, in the name of the link's approver.

    Raises UnknownConfirmation, ConfirmationClosed.
    """
    matter, link = _link(token)
    _decline(matter, link.confirmation_id, _holder(link), reason, now)


def approve_signed_in(
    *, tenant_id: str, confirmation_id: str, by: Decider, typed_amount: str, now: datetime
) -> None:
    """The same for a person who is signed in and was asked. Raises NotAnApprover, too."""
    matter = _matter_of(tenant_id, confirmation_id, by)
    _approve(matter, confirmation_id, by, typed_amount, now)


def decline_signed_in(
    *, tenant_id: str, confirmation_id: str, by: Decider, reason: str, now: datetime
) -> None:
    """The same for a person who is signed in and was asked. Raises NotAnApprover, too."""
    matter = _matter_of(tenant_id, confirmation_id, by)
    _decline(matter, confirmation_id, by, reason, now)


def _approve(
    matter: Matter, confirmation_id: str, by: Decider, typed_amount: str, now: datetime
) -> None:
    with transaction.atomic():
        question = outcomes.lock_open(matter, confirmation_id, now=now)
        switches.require_writable(tenant_id=question.tenant_id)
        is_stale = matter.withdraw_if_stale(question, now)
        if not is_stale:
            _let_go(matter, question, by, typed_amount, now)
    if is_stale:
        raise ConfirmationClosed("The terms have changed since this request was made.")


def _let_go(
    matter: Matter, question: Question, by: Decider, typed_amount: str, now: datetime
) -> None:
    if parse_dollars(typed_amount) != question.amount:
        raise AmountMismatch(
            f"Type {format_cents(question.amount)} to approve it.", field="typedAmount"
        )
    if question.tenant.status == TenantStatus.SUSPENDED:
        raise TenantSuspended("This tenant is suspended.")
    _require_still_approver(matter, question, by)
    matter.allow(question, by, now)
    outcomes.decide(matter, question, Decision.APPROVED, decided_by=by.email, now=now)
    matter.go_ahead(question, by.actor, now)
    outcomes.audited(question, "approved", by=by.actor, now=now)


@transaction.atomic
def _decline(matter: Matter, confirmation_id: str, by: Decider, reason: str, now: datetime) -> None:
    reason = " ".join(reason.split())[:REASON_LENGTH_MAX]
    question = outcomes.lock_open(matter, confirmation_id, now=now)
    switches.require_writable(tenant_id=question.tenant_id)
    outcomes.decide(
        matter, question, Decision.DECLINED, decided_by=by.email, now=now, decline_reason=reason
    )
    matter.stop(
        question,
        code="confirmation_declined",
        message=f"Declined: {reason}",
        actor=by.actor,
        now=now,
    )
    outcomes.audited(question, "declined", by=by.actor, now=now, reason=reason)


def _view(
    matter: Matter, question: Question, now: datetime, *, approver_email: str = ""
) -> QuestionView:
    is_over = question.decision == Decision.OPEN and question.expires_at <= now
    return QuestionView(
        id=question.pk,
        kind=matter.kind,
        tenant_id=question.tenant_id,
        tenant_name=question.tenant.name,
        amount=question.amount,
        holder_name=question.account.account_holder_name,
        bank_name=question.account.bank_name,
        last4=question.account.last4,
        reason=question.reason,
        requested_at=question.created_at,
        expires_at=question.expires_at,
        approvers=tuple(question.approvers),
        state=str(Decision.EXPIRED if is_over else question.decision),
        decided_by=question.decided_by,
        decided_at=question.decided_at,
        decline_reason=question.decline_reason,
        subject_id=question.subject_id,
        approver_email=approver_email,
    )


def _decision_order(view: QuestionView) -> tuple[datetime, str]:
    return view.decided_at or view.requested_at, view.id


def _link(token: str) -> tuple[Matter, MagicLink]:
    found = links.find(token)
    if found is None:
        raise UnknownConfirmation("This link is not valid.")
    return found


def _holder(link: MagicLink) -> Decider:
    return Decider(email=link.approver_email, actor=actors.approver(link.approver_email))


def _matter_of(tenant_id: str, confirmation_id: str, by: Decider) -> Matter:
    """Raises UnknownConfirmation; NotAnApprover for somebody who was not asked."""
    matter, question = _of(tenant_id, confirmation_id)
    if not _was_asked(matter, question, by.email):
        raise NotAnApprover("You are not among those who were asked.")
    return matter


def _of(tenant_id: str, confirmation_id: str) -> tuple[Matter, Question]:
    """Raises UnknownConfirmation."""
    for matter in matters.every() if is_id(confirmation_id, "cnf") else ():
        question = matter.questions().filter(tenant_id=tenant_id, pk=confirmation_id).first()
        if question is not None:
            return matter, question
    raise UnknownConfirmation("There is no such request for approval.")


def _require_still_approver(matter: Matter, question: Question, by: Decider) -> None:
    """An old mail does not outlive its reader's place in the team. Raises NotAnApprover."""
    email = by.email.casefold()
    was_asked = email in {address.casefold() for address in question.approvers}
    if was_asked and email not in {a.casefold() for a in matter.approvers(question)}:
        raise NotAnApprover("You are no longer an approver here.")


def _was_asked(matter: Matter, question: Question, email: str) -> bool:
    """With nobody asked at the time, those count who would be asked now."""
    asked = question.approvers or matter.approvers(question)
    return email.casefold() in {address.casefold() for address in asked}
