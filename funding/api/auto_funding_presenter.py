"""What a client sees of auto-funding."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from common import clock
from funding.models import AutoFundingConfig, AutoFundingDecision
from funding.selectors import AutoFunding
from funding.services import auto_funding_checks, pauses


def auto_funding(view: AutoFunding, *, now: datetime) -> dict[str, Any]:
    """The settings, saved or not, with their state at `now`."""
    config = view.config
    is_paused = config.enabled and pauses.is_paused(config, now)
    obstacle = auto_funding_checks.obstacle_of(config, now=now)
    return {
        "enabled": config.enabled,
        "lowBalanceThreshold": config.low_balance_threshold,
        "fundingAmount": config.funding_amount,
        "fundingMethod": str(config.funding_method) or None,
        "confirmationThreshold": config.confirmation_threshold,
        "fundingSourceId": config.source_id,
        "monthlyLimit": config.monthly_limit,
        "confirmationEmails": list(config.confirmation_emails),
        "confirmTopups": config.confirm_topups,
        "status": _status(config, is_paused=is_paused),
        "pausedReason": config.paused_reason if is_paused else None,
        "pausedUntil": _instant(config.paused_until) if is_paused else None,
        "lastDeclineReason": obstacle.reason if obstacle else None,
        "lastTriggeredAt": _instant(config.last_triggered_at),
        "inFlightAmount": view.in_flight,
        "fundedThisMonth": view.funded_this_month,
        "updatedAt": _instant(config.updated_at),
    }


def decision(row: AutoFundingDecision) -> dict[str, Any]:
    """One line of the decision log."""
    return {
        "id": row.pk,
        "outcome": str(row.outcome),
        "reason": row.reason,
        "availableBalance": row.available,
        "inFlightAmount": row.in_flight,
        "lowBalanceThreshold": row.threshold,
        "fundingAmount": row.amount,
        "fundingTransactionId": row.funding_id,
        "createdAt": clock.text_of(row.created_at),
    }


def _status(config: AutoFundingConfig, *, is_paused: bool) -> str:
    if not config.enabled:
        return "disabled"
    return "paused" if is_paused else "active"


def _instant(moment: datetime | None) -> str | None:
    return clock.text_of(moment) if moment else None
