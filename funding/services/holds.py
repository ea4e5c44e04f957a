"""Funding that staff hold for a look (`transfers.holds` says what that means)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from common.engine.wakeups import enqueue_on_commit
from funding.methods import NETWORK_METHOD
from funding.models import FundingTransaction
from funding.services import approvals, auto_funding, lifecycle, topups
from funding.states import FundingStatus
from networks import calendar
from tenants.actors import Actor
from transfers import holds
from transfers.holds import FAILURE_CODE, Shelf


def hold(*, funding_id: str, reason: str, actor: Actor, now: datetime) -> None:
    """Keep a funding that no network has seen where it is. Raises NotHoldable, ReasonNeeded."""
    holds.hold(SHELF, funding_id, reason=reason, actor=actor, now=now)


def release(*, funding_id: str, reason: str, actor: Actor, now: datetime) -> None:
    """Let a held funding go on. Raises ReasonNeeded."""
    holds.release(SHELF, funding_id, reason=reason, actor=actor, now=now)


def stop(*, funding_id: str, reason: str, actor: Actor, now: datetime) -> None:
    """Fail a held funding; nothing was drawn. Raises NotHeld, ReasonNeeded."""
    holds.stop(SHELF, funding_id, reason=reason, actor=actor, now=now)


def _lock(funding_id: str) -> FundingTransaction:
    rows = FundingTransaction.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("source").get(pk=funding_id)


def _end(funding: FundingTransaction, actor: Actor, message: str, now: datetime) -> None:
    approvals.supersede(funding=funding, by=actor.id, now=now)
    lifecycle.move(
        funding=funding,
        target=FundingStatus.FAILED,
        actor=actor,
        now=now,
        reason=message,
        failure_code=FAILURE_CODE,
        failure_message=message,
        next_attempt_at=None,
    )
    auto_funding.after_outcome(funding=funding, now=now)


def _on_release(funding: FundingTransaction, now: datetime) -> Mapping[str, Any]:
    if funding.status != FundingStatus.RESERVED:
        return {}
    enqueue_on_commit("funding.submit_due")
    available_on = calendar.expected_availability(NETWORK_METHOD[funding.method], now)
    return {"next_attempt_at": now, "expected_availability_date": available_on}


SHELF = Shelf(
    noun="funding",
    lock=_lock,
    is_unsent=topups.is_unsent,
    account=lambda funding: funding.source,
    end=_end,
    on_release=_on_release,
)
