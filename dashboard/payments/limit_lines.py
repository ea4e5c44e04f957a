"""The limits on money out, what counts against them, and changes that wait, ready to print."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common import brand
from dashboard.bank_accounts.names import account_name
from payments import caps
from payments.caps import Cap, Caps, CapScope, Window
from payments.models import PaymentSettings
from payments.services import cool_down, cool_down_settings, limit_settings, limits, totals, usage
from payments.services.limits import Standing
from payments.services.usage import ScopeUsage
from tenants import selectors as tenants
from tenants.actors import SYSTEM
from tenants.models import Tenant

WINDOWS = {Window.DAY: "24 hours", Window.MONTH: "30 days"}
_OF = {
    CapScope.TENANT: "All payments",
    CapScope.RECIPIENT: "To one recipient",
    CapScope.KEY: "By one API key",
    CapScope.PERSON: "By one person",
}


@dataclass(frozen=True)
class LimitLine:
    """One limit in one window, in cents and payments; None means unlimited."""

    label: str
    window: str
    amount: int | None
    payments: int | None
    used: int | None = None
    used_payments: int = 0
    frees_at: datetime | None = None

    @property
    def left(self) -> int | None:
        if self.amount is None or self.used is None:
            return None
        return max(self.amount - self.used, 0)


@dataclass(frozen=True)
class UsedLine:
    """What one recipient, key or person used, in cents, of what they may; None means unlimited."""

    name: str
    kind: str
    day: int
    day_most: int | None
    month: int
    month_most: int | None
    payments: int


@dataclass(frozen=True)
class WaitingChange:
    """A change that waits: what it is, `(what, before, after)` for each part, and from when."""

    what: str
    rows: list[tuple[str, str, str]]
    asked_by: str
    is_own: bool
    counts_at: datetime


def standing_lines(tenant: Tenant, *, now: datetime) -> list[LimitLine]:
    """The limits in force, with what counts of the tenant as a whole. Two queries."""
    found = limits.standings(tenant_id=tenant.pk, mode=tenant.mode, actor=SYSTEM, now=now)
    return [_line(standing) for standing in found]


def used_lines(tenant: Tenant, *, in_force: Caps, now: datetime) -> list[UsedLine]:
    """Who uses the most of them. Four queries at most."""
    found = usage.most_used(tenant_id=tenant.pk, now=now)
    names = _names(tenant, found, now)
    return [
        UsedLine(
            name=names.get(row.name, row.name if row.scope != CapScope.RECIPIENT else "An account"),
            kind=_OF[row.scope],
            day=row.usage.day.amount,
            day_most=in_force[row.scope, Window.DAY].amount,
            month=row.usage.month.amount,
            month_most=in_force[row.scope, Window.MONTH].amount,
            payments=row.usage.month.payments,
        )
        for row in found
    ]


def waiting(tenant: Tenant, *, reader: str, now: datetime) -> list[WaitingChange]:
    """The changes that wait, those of the limits first. Two queries at most."""
    row = PaymentSettings.objects.filter(tenant_id=tenant.pk).first()
    found = []
    if row and row.next_limits_at and row.next_limits_at > now:
        found.append(
            WaitingChange(
                what="limits",
                rows=_changed_limits(row, tenant, now),
                asked_by=_asked_by(tenant, row.next_limits_by),
                is_own=row.next_limits_by == reader,
                counts_at=row.next_limits_at,
            )
        )
    if row and row.next_cool_down_at and row.next_cool_down_at > now:
        before = cool_down.hours(row, mode=tenant.mode, now=now)
        after = cool_down.hours(row, mode=tenant.mode, now=row.next_cool_down_at)
        words = (cool_down_settings.words_of(before), cool_down_settings.words_of(after))
        found.append(
            WaitingChange(
                what="cool_down",
                rows=[("New recipients need a second person for", *words)],
                asked_by=_asked_by(tenant, row.next_cool_down_by),
                is_own=row.next_cool_down_by == reader,
                counts_at=row.next_cool_down_at,
            )
        )
    return found


def _line(standing: Standing) -> LimitLine:
    used = standing.used if standing.scope == CapScope.TENANT else None
    counts = used or totals.Used()
    return LimitLine(
        label=_OF[standing.scope],
        window=WINDOWS[standing.window],
        amount=standing.cap.amount,
        payments=standing.cap.payments,
        used=used.amount if used else None,
        used_payments=counts.payments,
        frees_at=standing.frees_at,
    )


def _names(tenant: Tenant, found: list[ScopeUsage], now: datetime) -> dict[str, str]:
    prints = [row.name for row in found if row.scope == CapScope.RECIPIENT]
    others = [row.name for row in found if row.scope != CapScope.RECIPIENT]
    names = tenants.people_and_keys(others) if others else {}
    for payment in usage.last_paid(prints, tenant_id=tenant.pk, now=now) if prints else ():
        account = payment.recipient
        names[account.fingerprint] = f"{account.display_name}, {account_name(account)}"
    return names


def _changed_limits(
    row: PaymentSettings, tenant: Tenant, now: datetime
) -> list[tuple[str, str, str]]:
    before = limits.of_settings(row, mode=tenant.mode, now=now)
    after = caps.from_stored(row.next_limits or {})
    return [
        (limit_settings.title(*key), _words(before[key]), _words(after[key]))
        for key in limit_settings.changed(before, after)
    ]


def _words(cap: Cap) -> str:
    return limit_settings.words_of(cap)


def _asked_by(tenant: Tenant, user_id: str) -> str:
    """Name who asked; our own staff appear as support, never by name."""
    person = tenants.members(tenant_id=tenant.pk).filter(user_id=user_id).first()
    return person.user.email if person else brand.support()
