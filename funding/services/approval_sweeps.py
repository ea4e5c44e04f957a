"""The periodic work on open approvals of funding: remind, expire, ask newcomers, and withdraw
what no longer applies."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from approvals import outcomes, sweeps
from approvals.errors import ApprovalClosed
from common.database.job_doors import by
from common.database.jobs import WORKER
from funding.models import Confirmation
from funding.services import approval_policy
from funding.services.approval_policy import POLICY
from tenants.actors import SYSTEM


@by(WORKER)
def sweep(*, now: datetime) -> int:
    """Expire, withdraw, remind, and ask who has come to approve; returns how many approvals that
    concerned. Several workers may run it at the same time."""
    over = expire_due(now=now) + withdraw_stale(now=now)
    return over + remind_due(now=now) + sweeps.ask_newcomers(POLICY, now=now)


def expire_due(*, now: datetime) -> int:
    """Close the approvals that nobody answered in time; returns how many."""
    return sweeps.expire_due(POLICY, now=now)


def withdraw_stale(*, now: datetime) -> int:
    """Withdraw the approvals that today's settings would not ask for any more; returns how many."""

    def withdraw(approval_id: str) -> None:
        approval = cast(Confirmation, outcomes.lock_open(POLICY, approval_id, now=now))
        if approval_policy.is_current(approval):
            raise ApprovalClosed("The settings changed back.")
        approval_policy.withdraw(approval, by=SYSTEM, now=now)

    stale = approval_policy.stale().values_list("pk", flat=True)[: sweeps.BATCH]
    return sweeps.each(stale, withdraw)


def remind_due(*, now: datetime) -> int:
    """Remind the approvers of approvals that expire within a day, once each; returns how many."""
    return sweeps.remind_due(POLICY, now=now)
