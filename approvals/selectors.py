"""What approvers and their team see of approvals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any

from django.db.models import CharField, DateTimeField, Q, QuerySet

from approvals import deciders, policies, tokens
from approvals.errors import UnknownApproval
from approvals.models import Approval, ApprovalStatus
from approvals.policies import AnyPolicy
from common import lookalikes
from common.engine.compiled_rows import Rows

OPEN_MAX = 100


@dataclass(frozen=True, kw_only=True)
class ApprovalView:
    """What a page about an approval shows. `amount` is cents; `state` is an ApprovalStatus.
    `approvers` are those who decide it while it is open, and those who were asked later on."""

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

    @property
    def warning(self) -> str:
        """What to look at twice in the names, which the approver did not choose; may be empty."""
        return lookalikes.warning(self.tenant_name, self.holder_name, self.bank_name)

    @property
    def address_warning(self) -> str:
        """What to look at twice in the addresses of those who are asked; may be empty."""
        return lookalikes.address_warning(*self.approvers)


def tenant_of_link(*, token: str) -> str:
    """The id of the tenant whose approval this link is about. Raises UnknownApproval."""
    return tokens.tenant_of(token)


def by_link(*, token: str, now: datetime) -> ApprovalView:
    """What the holder of this link may see. Changes nothing. Raises UnknownApproval, LinkEnded."""
    link = tokens.opened(token)
    (view,) = _views(link.policy, [link.approval], now, approver_email=link.email)
    return view


def open_approvals(*, tenant_id: str, now: datetime) -> list[ApprovalView]:
    """The tenant's approvals that can still be answered, those that expire first in front.

    At most OPEN_MAX of each kind: nobody answers more by hand.
    """
    views = []
    for policy in policies.every():
        rows = _open_rows(policy, OPEN_MAX).read(tenant_id=tenant_id, now=now)
        views += _views(policy, rows, now)
    return sorted(views, key=lambda view: (view.expires_at, view.id))


def open_amounts(*, tenant_id: str, now: datetime) -> dict[str, int]:
    """The cents of each of `open_approvals`, by its id, without who decides it. One query."""
    return dict(_open_amounts(OPEN_MAX).read(tenant_id=tenant_id, now=now))


@cache
def _open_amounts(most: int) -> Rows[tuple[str, int]]:
    def build(tenant_id: str, now: datetime) -> QuerySet[Any, tuple[str, int]]:
        first, *others = (
            _open(policy, most, tenant_id, now).values_list("pk", "amount")
            for policy in policies.every()
        )
        return first.union(*others, all=True)

    return Rows(build, tenant_id=CharField(), now=DateTimeField())


@cache
def _open_rows(policy: AnyPolicy, most: int) -> Rows[Any]:
    return Rows(partial(_open, policy, most), tenant_id=CharField(), now=DateTimeField())


def _open(policy: AnyPolicy, most: int, tenant_id: str, now: datetime) -> QuerySet[Any]:
    rows = policy.approvals().filter(
        tenant_id=tenant_id, decision=ApprovalStatus.OPEN, expires_at__gt=now
    )
    return rows.order_by("expires_at", "pk")[:most]


def closed_approvals(
    *, tenant_id: str, now: datetime, size: int, before: str = ""
) -> list[ApprovalView]:
    """At most `size` closed approvals, the last closed first. With `before`, an id, only those that
    follow it in this order. Raises UnknownApproval."""
    position = None
    if before:
        position = policies.find(tenant_id=tenant_id, approval_id=before)[1]
        if position.decided_at is None:
            raise UnknownApproval("Nobody has decided this request.")
    views: list[ApprovalView] = []
    for policy in policies.every():
        rows = policy.approvals().filter(tenant_id=tenant_id).exclude(decision=ApprovalStatus.OPEN)
        if position is not None:
            follows = Q(decided_at__lt=position.decided_at) | Q(pk__lt=position.pk)
            rows = rows.filter(follows, decided_at__lte=position.decided_at)
        views += _views(policy, list(rows.order_by("-decided_at", "-pk")[:size]), now)
    views.sort(key=lambda view: (view.decided_at or view.requested_at, view.id), reverse=True)
    return views[:size]


def find(
    *, tenant_id: str, approval_id: str, email: str, now: datetime
) -> tuple[ApprovalView, bool]:
    """One approval of the tenant, and whether the person of this address may answer it.

    Raises UnknownApproval.
    """
    policy, approval = policies.find(tenant_id=tenant_id, approval_id=approval_id)
    (view,) = _views(policy, [approval], now)
    decides = email.casefold() in {address.casefold() for address in view.approvers}
    return view, view.state == ApprovalStatus.OPEN and decides


def _views(
    policy: AnyPolicy, approvals: list[Approval], now: datetime, *, approver_email: str = ""
) -> list[ApprovalView]:
    """Those who decide are asked for together, of what is open."""
    open_ones = [row for row in approvals if row.decision == ApprovalStatus.OPEN]
    deciding = {row.pk: people for row, people in deciders.of_each(policy, open_ones)}
    return [
        _view(policy, row, now, deciding.get(row.pk, row.approvers), approver_email)
        for row in approvals
    ]


def _view(
    policy: AnyPolicy,
    approval: Approval,
    now: datetime,
    approvers: list[str],
    approver_email: str,
) -> ApprovalView:
    has_expired = approval.decision == ApprovalStatus.OPEN and approval.expires_at <= now
    return ApprovalView(
        id=approval.pk,
        kind=policy.kind,
        tenant_id=approval.tenant_id,
        tenant_name=approval.tenant.name,
        amount=approval.amount,
        holder_name=approval.account.account_holder_name,
        bank_name=approval.account.bank_name,
        last4=approval.account.last4,
        reason=approval.reason,
        requested_at=approval.created_at,
        expires_at=approval.expires_at,
        approvers=tuple(approvers),
        state=str(ApprovalStatus.EXPIRED if has_expired else approval.decision),
        decided_by=approval.decided_by,
        decided_at=approval.decided_at,
        decline_reason=approval.decline_reason,
        subject_id=approval.subject_id,
        approver_email=approver_email,
    )
