"""How much a tenant may bring in: per transaction, per day, per month. Cents, Eastern days.

The sums are read under the balance row's lock, so parallel requests cannot slip past them. A
funding that needs approval counts from its approval on, because only then the bank is asked for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from django.conf import settings
from django.db.models import Sum

from balance import services as ledger
from common.days import start_of_day, start_of_month
from common.engine import sql
from common.money import format_cents
from funding.errors import DailyLimitExceeded, MonthlyLimitExceeded
from funding.methods import METHODS
from funding.models import FundingMethod
from funding.selectors import counted, counts_since
from transfers.errors import AmountAboveLimit


class OwnLimits(NamedTuple):
    """The limits that staff set for one tenant, as stored in `FundingLimit`. Cents; None:
    not set."""

    ach_transaction_max: int | None = None
    rtp_transaction_max: int | None = None
    daily_max: int | None = None
    monthly_max: int | None = None

    def per_transaction(self, method: str) -> int | None:
        """The limit of one method, cents; None also where the table has no column for the
        method."""
        column = _OWN_COLUMN.get(method)
        value: int | None = getattr(self, column) if column else None
        return value


_OWN_COLUMN = MappingProxyType[str, str](
    {
        FundingMethod.ACH_DEBIT: "ach_transaction_max",
        FundingMethod.RTP: "rtp_transaction_max",
    }
)
OWN = f"""
SELECT {", ".join(OwnLimits._fields)}
FROM funding_fundinglimit WHERE tenant_id = %(tenant_id)s
"""  # noqa: S608  # our own names
_MODE_AND_OWN = f"""
SELECT tenant.mode, own.*
FROM (SELECT mode FROM tenants_tenant WHERE id = %(tenant_id)s) AS tenant LEFT JOIN ({OWN}) AS own
ON true
"""  # noqa: S608  # our own names


@dataclass(frozen=True)
class Limits:
    """The limits in force for one tenant, cents; None means unlimited."""

    per_transaction: dict[str, int]
    daily: int | None
    monthly: int | None

    @property
    def bound_sums(self) -> bool:
        """Whether what was asked for before counts."""
        return self.daily is not None or self.monthly is not None


@dataclass(frozen=True)
class Usage:
    """How many cents were asked for since midnight and since the first of the month, without
    failures."""

    today: int
    this_month: int


def of(tenant_id: str) -> Limits:
    """The limits in force for the tenant. One query. Raises LookupError for an unknown tenant."""
    row = sql.first(_MODE_AND_OWN, {"tenant_id": tenant_id})
    if row is None:
        raise LookupError(f"there is no tenant {tenant_id}")
    return in_force(OwnLimits(*row[1:]), mode=row[0])


def in_force(own: OwnLimits, *, mode: str) -> Limits:
    """The tenant's own limits, and the deployment's where a tenant of `mode` has none. Per
    transaction never more than the tenant's network takes."""
    return Limits(
        per_transaction={
            name: method.amount_max(mode, own=own.per_transaction(name))
            for name, method in METHODS.items()
        },
        daily=own.daily_max or settings.DAILY_FUNDING_MAX,
        monthly=own.monthly_max or settings.MONTHLY_FUNDING_MAX,
    )


def check(limits: Limits, *, tenant_id: str, method: str, amount: int, now: datetime) -> None:
    """Refuse an amount that exceeds a limit. Takes the balance row's lock where a sum has to be
    read.

    Raises AmountAboveLimit, DailyLimitExceeded, MonthlyLimitExceeded.
    """
    check_transaction(limits, method=method, amount=amount)
    if limits.bound_sums:
        ledger.lock_row(tenant_id=tenant_id)
        check_sums(limits, usage(tenant_id=tenant_id, now=now), amount=amount)


def check_unlocked(
    limits: Limits, *, tenant_id: str, method: str, amount: int, now: datetime
) -> None:
    """What `check` refuses, for a caller who holds the balance row, or who only asks."""
    check_transaction(limits, method=method, amount=amount)
    if limits.bound_sums:
        check_sums(limits, usage(tenant_id=tenant_id, now=now), amount=amount)


def check_sums(limits: Limits, used: Usage, *, amount: int) -> None:
    """Raises DailyLimitExceeded, MonthlyLimitExceeded."""
    if limits.daily is not None and used.today + amount > limits.daily:
        raise DailyLimitExceeded(_over("day", limits.daily, used.today), field="amount")
    if limits.monthly is not None and used.this_month + amount > limits.monthly:
        raise MonthlyLimitExceeded(_over("month", limits.monthly, used.this_month), field="amount")


def check_transaction(limits: Limits, *, method: str, amount: int) -> None:
    """Raises AmountAboveLimit."""
    most = limits.per_transaction[method]
    if amount > most:
        raise AmountAboveLimit(
            f"At most {format_cents(most)} per transaction by {METHODS[method].words}.",
            field="amount",
            limit=most,
        )


def usage(*, tenant_id: str, now: datetime, apart_from: str = "") -> Usage:
    """What counts against the daily and monthly limits, without the funding whose id is
    `apart_from`."""
    this_month = counted(tenant_id=tenant_id, since=start_of_month(now))
    sums = this_month.exclude(pk=apart_from).aggregate(
        today=Sum("amount", filter=counts_since(start_of_day(now)), default=0),
        this_month=Sum("amount", default=0),
    )
    return Usage(**sums)


def _over(period: str, limit: int, used: int) -> str:
    return f"At most {format_cents(limit)} a {period}. {what_is_left(period, limit, used)}"


def what_is_left(period: str, limit: int, used: int) -> str:
    """A sentence: how much is left of the limit of a `day` or `month`. Both amounts are cents."""
    since = "today" if period == "day" else f"this {period}"
    left = format_cents(max(0, limit - used))
    return f"{format_cents(used)} was asked for {since}, so {left} is left."
