"""How much a tenant may bring in: per transaction, per day, per month. Cents, Eastern days.

The sums are read under the balance row's lock, so parallel requests cannot slip past them. What
somebody approves counts from the approval on: that is when the bank is asked for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Sum

from balance import services as ledger
from common.days import start_of_day, start_of_month
from common.engine import sql
from common.money import format_cents
from funding.errors import DailyLimitExceeded, MonthlyLimitExceeded
from funding.models import FundingMethod
from funding.selectors import counted, counts_since
from transfers.errors import AmountAboveLimit

# What `in_force` takes.
OWN = """
SELECT ach_transaction_max, rtp_transaction_max, daily_max, monthly_max
FROM funding_fundinglimit WHERE tenant_id = %(tenant_id)s
"""


@dataclass(frozen=True)
class Limits:
    """The limits in force for one tenant; None means unlimited."""

    per_transaction: dict[str, int]
    daily: int | None
    monthly: int | None


@dataclass(frozen=True)
class Usage:
    """What was asked for since midnight and since the first of the month, failures left out."""

    today: int
    this_month: int


def of(tenant_id: str) -> Limits:
    """The tenant's own limits where staff set them, the deployment's elsewhere."""
    return in_force(*sql.first(OWN, {"tenant_id": tenant_id}) or ())


def in_force(
    ach: int | None = None,
    rtp: int | None = None,
    daily: int | None = None,
    monthly: int | None = None,
) -> Limits:
    """The given limits, and the deployment's for those that are None."""
    return Limits(
        per_transaction={
            FundingMethod.ACH_DEBIT: ach or settings.ACH_AMOUNT_MAX,
            FundingMethod.RTP: rtp or settings.RTP_AMOUNT_MAX,
        },
        daily=daily or settings.DAILY_FUNDING_MAX,
        monthly=monthly or settings.MONTHLY_FUNDING_MAX,
    )


def check(limits: Limits, *, tenant_id: str, method: str, amount: int, now: datetime) -> None:
    """Refuse an amount that goes over a limit; holds the balance row's lock when sums matter.

    Raises AmountAboveLimit, DailyLimitExceeded, MonthlyLimitExceeded.
    """
    check_transaction(limits, method=method, amount=amount)
    if limits.daily is None and limits.monthly is None:
        return
    ledger.lock_row(tenant_id=tenant_id)
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
            f"At most {format_cents(most)} per transaction by {FundingMethod(method).words}.",
            field="amount",
            limit=most,
        )


def usage(*, tenant_id: str, now: datetime, apart_from: str = "") -> Usage:
    """What counts against the daily and monthly limits; without the funding of one id."""
    this_month = counted(tenant_id=tenant_id, since=start_of_month(now))
    sums = this_month.exclude(pk=apart_from).aggregate(
        today=Sum("amount", filter=counts_since(start_of_day(now)), default=0),
        this_month=Sum("amount", default=0),
    )
    return Usage(**sums)


def _over(period: str, limit: int, used: int) -> str:
    return f"At most {format_cents(limit)} a {period}. {what_is_left(period, limit, used)}"


def what_is_left(period: str, limit: int, used: int) -> str:
    """In words, of the limit of a `day` or `month`. Both amounts are cents."""
    since = "today" if period == "day" else f"this {period}"
    left = format_cents(max(0, limit - used))
    return f"{format_cents(used)} was asked for {since}, so {left} is left."
