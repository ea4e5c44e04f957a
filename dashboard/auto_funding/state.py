"""Auto-funding in words: its state with the next step, and what a rule will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from common.money import format_cents
from dashboard.auto_funding import obstacles as auto_funding_obstacles
from dashboard.auto_funding.obstacles import State, Step
from dashboard.shell.badges import Badge
from dashboard.templatetags.ballast import moment
from funding.models import AutoFundingConfig
from funding.services import notices, pauses
from funding.services.auto_funding_checks import Declined
from funding.simulation import Simulation

_SETTINGS = "dashboard:auto_funding_settings"
_PAGE = "dashboard:auto_funding"


def state(config: AutoFundingConfig, *, now: datetime, obstacle: Declined | None = None) -> State:
    """`obstacle` keeps the saved rule from adding money (`funding.auto_funding_checks`)."""
    if not config.enabled:
        text = "Auto-funding is off. Money is added only when somebody adds it."
        return State(text, Badge("Off"), Step(_SETTINGS, "Set it up"))
    if pauses.is_paused(config, now):
        return State(_pause(config), Badge("Paused", "warn"), _way_out(config))
    if obstacle is not None:
        return auto_funding_obstacles.state(obstacle, now=now)
    return State(_summary(config), Badge("On", "good"), Step(_PAGE, "Details"))


def state_in_short(config: AutoFundingConfig, found: State) -> State:
    """The state without its reason, for pages whose attention list gives the reason."""
    return replace(found, text=_summary(config, is_held_up=True))


def plan(
    *,
    amount: int,
    threshold: int,
    account: str,
    approval_above: int | None,
    approvers: Sequence[str],
    monthly_limit: int | None,
    is_held_up: bool = False,
) -> str:
    """The whole rule in a sentence or two; amounts are cents, `account` is its name or empty.
    `is_held_up`: something keeps it from adding money, so it only would."""
    source = f" from {account}" if account else ""
    sentence = f"{_we(is_held_up)} add {format_cents(amount)}{source} when your balance drops below"
    sentence = f"{sentence} {format_cents(threshold)}.{_asking(amount, approval_above, approvers)}"
    if monthly_limit is not None:
        sentence += f" We add at most {format_cents(monthly_limit)} a month."
    return sentence


def outcome(simulation: Simulation) -> str:
    """What the rule would have done in the last weeks."""
    period = f"the last {simulation.days} days"
    if simulation.spent <= 0 and not simulation.firings:
        return f"You spent nothing in {period}, so there is nothing to test this rule on."
    spending = f"In {period} you spent {format_cents(simulation.spent)}."
    if not simulation.firings:
        return f"{spending} This rule would not have added any money.{_shortfalls(simulation)}"
    times = "once" if simulation.firings == 1 else f"{simulation.firings} times"
    total = f"{format_cents(simulation.funded)} in total"
    added = f"This rule would have added money {times}, {total}."
    return f"{spending} {added}{_shortfalls(simulation)}"


def people(addresses: Sequence[str]) -> str:
    """`ana@acme.test or ben@acme.test`; nobody is `nobody yet`."""
    if len(addresses) > 3:
        return f"{addresses[0]} or {len(addresses) - 1} others"
    return " or ".join(addresses) or "nobody yet"


def _asking(amount: int, above: int | None, approvers: Sequence[str]) -> str:
    if above is None:
        return ""
    asked = people(approvers) if approvers else "an approver"
    if amount > above:
        return f" Each time, {asked} must approve it first."
    return f" Above {format_cents(above)}, {asked} must approve it first."


def _shortfalls(simulation: Simulation) -> str:
    text = " The monthly limit would have stopped it." if simulation.is_capped else ""
    remedy = "A higher limit" if simulation.is_capped else "A higher threshold or amount"
    if not simulation.days_short:
        return text
    days = "one day" if simulation.days_short == 1 else f"{simulation.days_short} days"
    short = f"On {days} the balance would have run out before the money arrived."
    return f"{text} {short} {remedy} would help."


def _pause(config: AutoFundingConfig) -> str:
    reason, advice = notices.explain_pause(config.paused_reason)
    until = f" until {moment(config.paused_until)}" if config.paused_until else ""
    return f"Auto-funding is paused{until}. {reason} {advice}"


def _way_out(config: AutoFundingConfig) -> Step:
    if notices.is_end_of_authorization(config.paused_reason):
        return Step(_PAGE, "See what to do")
    if config.paused_reason.startswith(notices.RETURNED):
        return Step("dashboard:bank_accounts", "View the account")
    return Step(_PAGE, "View details")


def _summary(config: AutoFundingConfig, *, is_held_up: bool = False) -> str:
    amount, threshold = config.funding_amount or 0, config.low_balance_threshold or 0
    what = f"{_we(is_held_up)} add {format_cents(amount)}"
    low = f"when your balance drops below {format_cents(threshold)}"
    limit = config.confirmation_threshold
    asks = limit is not None and amount > limit
    return f"{what} {low}, once an approver agrees." if asks else f"{what} {low}."


def _we(is_held_up: bool) -> str:
    return "We would" if is_held_up else "We"
