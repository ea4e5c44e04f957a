"""The periodic work on open approvals: a reminder, then they expire."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from approvals import links, outcomes
from approvals.errors import ApprovalClosed
from approvals.models import ApprovalStatus
from approvals.policies import AnyPolicy
from common.database_clock import judged
from tenants.actors import SYSTEM

log = structlog.get_logger(__name__)

REMINDER_BEFORE_END = timedelta(hours=24)
BATCH = 1_000


@judged
def expire_due(policy: AnyPolicy, *, now: datetime) -> int:
    """Close the approvals that nobody answered in time; returns how many.

    While staff hold the funding or payment, its approval does not expire.
    """

    def expire(approval_id: str) -> None:
        approval = outcomes.lock(policy, approval_id)
        if getattr(approval, policy.kind).held_at is not None:
            raise ApprovalClosed("Staff hold it meanwhile.")
        outcomes.close(policy, approval, ApprovalStatus.EXPIRED, decided_by="", now=now)
        policy.stop(
            approval,
            code="confirmation_expired",
            message="Nobody approved in time.",
            actor=SYSTEM,
            now=now,
        )

    unheld = {f"{policy.kind}__held_at": None}
    over = policy.approvals().filter(decision=ApprovalStatus.OPEN, expires_at__lte=now, **unheld)
    return each(over.order_by("expires_at").values_list("pk", flat=True)[:BATCH], expire)


@judged
def remind_due(policy: AnyPolicy, *, now: datetime) -> int:
    """Remind the approvers of approvals that expire within a day, once; returns how many."""

    def remind(approval_id: str) -> None:
        unreminded = policy.approvals().filter(decision=ApprovalStatus.OPEN, reminded_at=None)
        if not unreminded.filter(pk=approval_id).update(reminded_at=now):
            raise ApprovalClosed("Somebody else reminded them.")
        approval = policy.approvals().get(pk=approval_id)
        links.queue(policy, approval, to=approval.approvers, template=links.REMINDER_MAIL, now=now)

    soon = policy.approvals().filter(
        decision=ApprovalStatus.OPEN,
        reminded_at=None,
        expires_at__gt=now,
        expires_at__lte=now + REMINDER_BEFORE_END,
    )
    return each(soon.order_by("expires_at").values_list("pk", flat=True)[:BATCH], remind)


def each(ids: Iterable[str], act: Callable[[str], None]) -> int:
    """Run `act` for each approval, in a transaction of its own; returns how many succeeded.

    A failure is logged and does not keep the others from running.
    """
    done = 0
    for approval_id in list(ids):
        try:
            with transaction.atomic():
                act(approval_id)
        except ApprovalClosed:
            continue  # somebody answered in between
        except Exception:
            log.exception("confirmation_sweep_failed", confirmation_id=approval_id)
        else:
            done += 1
    return done
