"""What would happen to a top-up that is asked for now: limits, approval, arrival. It promises
nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from common.errors import RuleViolation
from funding.methods import METHODS
from funding.services import limits, topup_terms
from funding.services.approval_policy import approvers
from funding.services.limits import Limits, Usage
from networks.base import Speed


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The answer to "what if". Amounts are cents; `left_…` is None where there is no limit.

    `refusal` is the refusal that the service would answer to this amount. `approvers` are the
    people who would be asked; it is empty where the amount needs no approval.
    """

    amount: int | None
    method: str
    most: int
    left_today: int | None
    left_this_month: int | None
    refusal: RuleViolation | None
    approvers: tuple[str, ...]
    expected_on: date


def quote(
    *,
    tenant_id: str,
    mode: str,
    method: str,
    amount: int | None,
    now: datetime,
    speed: Speed = Speed.STANDARD,
) -> Quote:
    """Foresee a top-up of `amount` cents. Without an amount only the limits are filled in. Costs at
    most four queries."""
    in_force = limits.of(tenant_id)
    used = limits.usage(tenant_id=tenant_id, now=now)
    return Quote(
        amount=amount,
        method=method,
        most=in_force.per_transaction[method],
        left_today=_left(in_force.daily, used.today),
        left_this_month=_left(in_force.monthly, used.this_month),
        refusal=_refusal(in_force, used, method, amount) if amount else None,
        approvers=_approvers(tenant_id, amount, now) if amount else (),
        expected_on=METHODS[method].terms(mode).arrival(now, speed, amount=amount or 0),
    )


def _left(limit: int | None, used: int) -> int | None:
    return None if limit is None else max(0, limit - used)


def _refusal(in_force: Limits, used: Usage, method: str, amount: int) -> RuleViolation | None:
    try:
        limits.check_transaction(in_force, method=method, amount=amount)
        limits.check_sums(in_force, used, amount=amount)
    except RuleViolation as refusal:
        return refusal
    return None


def _approvers(tenant_id: str, amount: int, now: datetime) -> tuple[str, ...]:
    deadline = topup_terms.approval_deadline(tenant_id=tenant_id, amount=amount, now=now)
    return tuple(approvers(tenant_id=tenant_id)) if deadline else ()
