"""The decision log of auto-funding in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from common.errors import DomainError
from common.money import format_cents
from dashboard.auto_funding.state import people
from dashboard.shell.badges import Badge
from funding.models import AutoFundingDecision, DecisionOutcome
from funding.services import notices
from funding.states import FundingStatus

REASONS = {
    "below_threshold": "The balance was below the threshold.",
    "awaiting_confirmation": "The balance was below the threshold, so we asked the approvers.",
    "awaiting_confirmation_nobody_asked": (
        "The balance was below the threshold, but there is nobody to ask. Add approvers, and we"
        " e-mail them."
    ),
    "already_in_flight": "An automatic top-up was already on its way. We send one at a time.",
    "tenant_suspended": "Your organization was suspended.",
    "no_funding_source": (
        "There was no bank account to add money from. Add one or choose a default."
    ),
    "no_network": "No payment network is connected yet.",
    "auto_funding_monthly_limit": "It would have gone over your monthly limit for auto-funding.",
    "amount_above_limit": "The amount is above the limit for one transaction.",
    "daily_limit_exceeded": "It would have gone over the daily limit of your organization.",
    "monthly_limit_exceeded": "It would have gone over the monthly limit of your organization.",
    "funding_source_not_verified": "The bank account was not verified yet.",
    "funding_source_not_authorized": (
        "The account holder's authorization has ended. Resume auto-funding once it is given again."
    ),
    "authorization_required": (
        "The account holder had not authorized it. Read the authorization in the settings and agree"
        " to it."
    ),
    "funding_source_unusable": "The bank account could not be used. Choose another one.",
    "funding_method_not_supported": "The bank account does not support the method.",
}


@dataclass(frozen=True)
class DecisionLine:
    """One decision; the amounts are those of its moment."""

    what: str
    why: str
    then: str
    badge: Badge
    funding_id: str | None
    at: datetime


def decision_line(row: AutoFundingDecision) -> DecisionLine:
    fired = row.outcome == DecisionOutcome.FIRED
    amount = format_cents(row.amount)
    return DecisionLine(
        what=f"Requested {amount}" if fired else f"Did not add {amount}",
        why=reason(row.reason),
        then=(
            f"{format_cents(row.available)} available, {format_cents(row.in_flight)} on its way,"
            f" threshold {format_cents(row.threshold)}"
        ),
        badge=Badge("Requested", "good") if fired else Badge("Skipped", "warn"),
        funding_id=row.funding_id,
        at=row.created_at,
    )


def reason(code: str) -> str:
    """Why it fired or did not, in a sentence."""
    if code in REASONS:
        return REASONS[code]
    if code in DomainError.registry:
        return f"{DomainError.registry[code].title}."
    if notices.is_pause(code):
        return f"It was paused. {notices.explain_pause(code)[0]}"
    return f"We have no explanation for {code}. Please contact support."


def fired_in_words(
    decision: AutoFundingDecision, *, approvers: Sequence[str], is_stopped: bool
) -> str:
    """What became of the money that auto-funding just began to add. `is_stopped` says that
    operators have stopped sending funding of this tenant."""
    amount, funding = format_cents(decision.amount), decision.funding
    if funding is not None and funding.status == FundingStatus.AWAITING_CONFIRMATION:
        return f"{amount} waits for the approval of {people(approvers)}."
    if is_stopped:
        return f"We send {amount} once sending resumes."
    return f"{amount} is on its way."
