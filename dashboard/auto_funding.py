"""The state of auto-funding in one sentence, with the next step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common.money import format_cents
from dashboard.context import Badge
from dashboard.templatetags.ballast import moment
from funding.models import AutoFundingConfig
from funding.services import notices, pauses


@dataclass(frozen=True)
class State:
    """What the overview says."""

    text: str
    badge: Badge


def state(config: AutoFundingConfig, *, now: datetime) -> State:
    if not config.enabled:
        return State("Auto-funding is off: money is added only when somebody asks.", Badge("Off"))
    if pauses.is_paused(config, now):
        return State(_pause(config), Badge("Paused", "warn"))
    return State(_plan(config), Badge("On", "good"))


def _pause(config: AutoFundingConfig) -> str:
    reason, advice = notices.explain_pause(config.paused_reason)
    until = f" until {moment(config.paused_until)}" if config.paused_until else ""
    return f"Auto-funding is paused{until}. {reason} {advice}"


def _plan(config: AutoFundingConfig) -> str:
    amount, threshold = config.funding_amount or 0, config.low_balance_threshold or 0
    plan = f"Will add {format_cents(amount)} when you drop below {format_cents(threshold)}"
    limit = config.confirmation_threshold
    asks = limit is not None and amount > limit
    return f"{plan}, once an approver agrees." if asks else f"{plan}."
