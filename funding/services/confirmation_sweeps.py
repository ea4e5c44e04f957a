"""What happens to open questions about funding with time: reminder, end, terms that changed."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from approvals import outcomes, sweeps
from approvals.errors import ConfirmationClosed
from funding.models import Confirmation
from funding.services import confirmation_outcomes
from funding.services.confirmation_outcomes import MATTER
from tenants.actors import SYSTEM


def sweep(*, now: datetime) -> int:
    """Do all of it; returns how much. Safe to run at any time, by any number of workers."""
    return expire_due(now=now) + void_stale(now=now) + remind_due(now=now)


def expire_due(*, now: datetime) -> int:
    """Close the questions nobody answered in time; returns how many."""
    return sweeps.expire_due(MATTER, now=now)


def void_stale(*, now: datetime) -> int:
    """Withdraw the questions that today's settings would not ask any more; returns how many."""

    def void(confirmation_id: str) -> None:
        question = cast(Confirmation, outcomes.lock_open(MATTER, confirmation_id, now=now))
        if confirmation_outcomes.is_current(question):
            raise ConfirmationClosed("The settings changed back.")
        confirmation_outcomes.void(question, by=SYSTEM, now=now)

    stale = confirmation_outcomes.stale().values_list("pk", flat=True)[: sweeps.BATCH]
    return sweeps.each(stale, void)


def remind_due(*, now: datetime) -> int:
    """Remind the approvers of questions that end within a day, once; returns how many."""
    return sweeps.remind_due(MATTER, now=now)
