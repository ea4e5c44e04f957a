"""The periodic work on open approvals: newcomers are asked, all are reminded, then they expire."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from approvals import deciders, links, outcomes, requests
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
    """Remind who was asked and still decides of approvals that expire within a day, once; returns
    how many. Whoever comes later is asked, not reminded."""

    def remind(approval_id: str) -> None:
        unreminded = policy.approvals().filter(decision=ApprovalStatus.OPEN, reminded_at=None)
        if not unreminded.filter(pk=approval_id).update(reminded_at=now):
            raise ApprovalClosed("Somebody else reminded them.")
        approval = policy.approvals().get(pk=approval_id)
        still = deciders.asked_and_still(policy, approval)
        links.queue(policy, approval, to=still, template=links.REMINDER_MAIL, now=now)

    soon = policy.approvals().filter(
        decision=ApprovalStatus.OPEN,
        reminded_at=None,
        expires_at__gt=now,
        expires_at__lte=now + REMINDER_BEFORE_END,
    )
    return each(soon.order_by("expires_at").values_list("pk", flat=True)[:BATCH], remind)


@judged
def ask_newcomers(policy: AnyPolicy, *, now: datetime) -> int:
    """Ask those who have come to decide what is open (decision 0185), once each; returns how many
    approvals that concerned."""

    def ask(approval_id: str) -> None:
        approval = outcomes.lock_open(policy, approval_id, now=now)
        if not requests.ask_newcomers(policy, approval, now=now):
            raise ApprovalClosed("Somebody else asked them.")

    return each(_with_newcomers(policy, now), ask)


def _with_newcomers(policy: AnyPolicy, now: datetime) -> Iterator[str]:
    """The ids of the open approvals that somebody decides who was not asked. A few queries for each
    BATCH of open ones."""
    open_ones = policy.approvals().filter(decision=ApprovalStatus.OPEN, expires_at__gt=now)
    page, last = BATCH, ""
    while page == BATCH:
        rows = list(open_ones.filter(pk__gt=last).order_by("pk")[:BATCH])
        for approval, approvers in deciders.of_each(policy, rows):
            last = approval.pk
            if deciders.not_asked(approval, approvers):
                yield approval.pk
        page = len(rows)


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
