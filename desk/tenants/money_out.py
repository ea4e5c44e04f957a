"""What bounds the money out of one tenant, for staff to read: its owners set it (decision 0174)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common import brand
from common.money import format_cents
from dashboard.payments import limit_lines
from dashboard.payments.limit_lines import LimitLine, WaitingChange
from payments.models import PaymentSettings
from payments.services import approval_defaults, cool_down, cool_down_settings
from tenants import selectors as tenants
from tenants.models import Tenant


@dataclass(frozen=True)
class MoneyOut:
    """The limits with what is used of them, when a second person is asked, and changes that wait.
    `are_own`: its owners set the limits."""

    lines: list[LimitLine]
    are_own: bool
    approval: str
    cool_down: str
    waiting: list[WaitingChange]


def money_out(tenant: Tenant, *, now: datetime) -> MoneyOut:
    """Eight queries at most."""
    rules = PaymentSettings.objects.filter(tenant_id=tenant.pk).first()
    threshold = approval_defaults.threshold_of_settings(
        rules, tenant_id=tenant.pk, mode=tenant.mode, now=now
    )
    hours = cool_down.hours(rules, mode=tenant.mode, now=now)
    return MoneyOut(
        lines=limit_lines.standing_lines(tenant, now=now),
        are_own=rules is not None and rules.limits_at(now) is not None,
        approval=_threshold_words(threshold),
        cool_down=cool_down_settings.words_of(hours) if hours else "none",
        waiting=[
            *_approval_waiting(rules, threshold, now),
            *limit_lines.waiting(tenant, reader="", now=now),
        ],
    )


def _threshold_words(cents: int | None) -> str:
    return "nobody is asked" if cents is None else f"above {format_cents(cents)}"


def _approval_waiting(
    rules: PaymentSettings | None, threshold: int | None, now: datetime
) -> list[WaitingChange]:
    """A higher approval limit that does not count yet."""
    if rules is None or rules.next_at is None or rules.next_at <= now:
        return []
    after = _threshold_words(rules.threshold_at(rules.next_at))
    people = tenants.members(tenant_id=rules.tenant_id).filter(user_id=rules.next_by)
    email = people.values_list("user__email", flat=True).first()
    return [
        WaitingChange(
            what="approval",
            rows=[("A second person approves", _threshold_words(threshold), after)],
            asked_by=email or brand.support(),
            is_own=False,
            counts_at=rules.next_at,
        )
    ]
