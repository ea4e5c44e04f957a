"""Why auto-funding adds no money although it is on, and what to do about it, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common import days
from dashboard.shell.badges import Badge
from funding.errors import FundingSourceNotAuthorized
from funding.services import notices
from funding.services.auto_funding_checks import Declined


@dataclass(frozen=True)
class Step:
    """What a person can do about it: a URL name, and the words on the link."""

    view: str
    label: str


@dataclass(frozen=True)
class State:
    """What the overview says."""

    text: str
    badge: Badge
    step: Step


_DETAILS = Step("dashboard:auto_funding", "Details")
_SETTINGS = Step("dashboard:auto_funding_settings", "Settings")
_LIMITS = Step("dashboard:settings", "Your limits")
_ACCOUNTS = Step("dashboard:bank_accounts", "Bank accounts")
_UNAUTHORIZED = State(
    "The bank says debits are not authorized, so we add no money.",
    Badge("Paused", "warn"),
    Step("dashboard:auto_funding", "See why"),
)
WAYS_OUT = {
    "auto_funding_monthly_limit": (
        "It resumes on {month}, or when you raise the limit.",
        _SETTINGS,
    ),
    "daily_limit_exceeded": (
        "It resumes after midnight, US Eastern time. For a higher limit, contact support.",
        _LIMITS,
    ),
    "monthly_limit_exceeded": (
        "It resumes on {month}. For a higher limit, contact support.",
        _LIMITS,
    ),
    "amount_above_limit": (
        "Choose a smaller amount, or contact support for a higher limit.",
        _SETTINGS,
    ),
    "no_funding_source": ("Add one, or choose a default.", _ACCOUNTS),
    "funding_source_not_verified": ("Enter the two amounts.", _ACCOUNTS),
    "funding_source_unusable": ("Choose another one.", _ACCOUNTS),
    "funding_source_not_authorized": (FundingSourceNotAuthorized.advice, _DETAILS),
    "authorization_required": (
        "Read the authorization in the settings and agree to it.",
        _SETTINGS,
    ),
    "funding_method_not_supported": ("Choose another method or account.", _SETTINGS),
    "no_network": ("It starts once one is connected.", _DETAILS),
    "tenant_suspended": ("Please contact support.", _DETAILS),
    "too_many_firings": ("It pauses until somebody resumes it.", _DETAILS),
    "funding_stopped": ("We have stopped it for now. Please contact support.", _DETAILS),
}


def state(obstacle: Declined, *, now: datetime) -> State:
    """What to say of a rule that is on and meets `obstacle`."""
    if obstacle.reason == "funding_source_not_authorized":
        return _UNAUTHORIZED
    advice, step = WAYS_OUT.get(obstacle.reason, ("", _DETAILS))
    text = f"Auto-funding cannot add money right now. {obstacle.detail} {_dated(advice, now)}"
    return State(text, Badge("Blocked", "warn"), step)


def explained(obstacle: Declined, *, now: datetime) -> str:
    """The sentence that explains an obstacle, and the step that a person can take."""
    if obstacle.reason in WAYS_OUT:
        return f"{obstacle.detail} {_dated(WAYS_OUT[obstacle.reason][0], now)}"
    return " ".join(notices.explain_pause(obstacle.reason))


def _dated(advice: str, now: datetime) -> str:
    """Fill in the first day of the next Eastern month, on which monthly limits start over."""
    first = days.next_month(days.day_of(now))
    return advice.format(month=f"{first:%B} {first.day} (US Eastern time)")
