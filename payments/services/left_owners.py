"""Looser rules that wait, and whose owner is none any more, are withdrawn (decision 0184)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from payments.models import PaymentSettings
from payments.services import approval_settings, cool_down_settings, limit_settings
from tenants.actors import Actor


class _Rule(NamedTuple):
    """A rule whose looser value waits: what it is called, its columns, and how it is withdrawn."""

    words: str
    at: str
    by: str
    withdraw: Callable[..., None]


_RULES = (
    _Rule("approval limit", "next_at", "next_by", approval_settings.refuse),
    _Rule("limits", "next_limits_at", "next_limits_by", limit_settings.withdraw),
    _Rule(
        "time for new recipients",
        "next_cool_down_at",
        "next_cool_down_by",
        cool_down_settings.withdraw,
    ),
)


def withdraw_rules(
    *, tenant_id: str, user_id: str, actor: Actor, now: datetime, **_rest: Any
) -> dict[str, str]:
    """Withdraw what this person asked for and is not in force yet; returns the rules' names.

    Receives `tenants.signals.member_left`, in its transaction, which has locked the tenant.
    """
    row = PaymentSettings.objects.filter(tenant_id=tenant_id).first()
    if row is None:
        return {}
    waiting = [rule for rule in _RULES if _waits(row, rule, user_id, now)]
    for rule in waiting:
        rule.withdraw(tenant_id=tenant_id, actor=actor, now=now)
    names = ", ".join(rule.words for rule in waiting)
    return {"Looser rules withdrawn": names} if names else {}


def _waits(row: PaymentSettings, rule: _Rule, user_id: str, now: datetime) -> bool:
    at: datetime | None = getattr(row, rule.at)
    return at is not None and at > now and getattr(row, rule.by) == user_id
