"""Which closed days should be proven by now, and what a proof of funds waits for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date, datetime, timedelta

import structlog
from django.core.cache import cache

from common import days
from networks.ach import bank_clock
from networks.instant.models import InstantRail
from reconciliation import accounts, due
from reconciliation.models import ClosedDay, SettlementAccount
from solvency.models import ProofReport

log = structlog.get_logger(__name__)

# After the day should be closed, and after it was. A proof is tried every five minutes.
TIME_TO_PROVE = timedelta(hours=1)
_DAYS_COUNTED = 60
_A_DAY_IN_SECONDS = 86_400
DISTURBED = "Lines were taken meanwhile."


def late_days(*, now: datetime) -> list[date]:
    """The days that some account has closed and that no proof covers by now, the oldest first, 60
    at most. A proof covers the days before it."""
    until = now - TIME_TO_PROVE
    rows = ClosedDay.objects.filter(closed_at__lte=until)
    if proven := ProofReport.objects.order_by("-day").values_list("day", flat=True).first():
        rows = rows.filter(day__gt=proven)
    days = rows.order_by("day").values_list("day", flat=True).distinct()[:_DAYS_COUNTED]
    return [day for day in days if due.deadline(day) <= until]


def obstacles(*, now: datetime) -> Iterator[str]:
    """What the next proof waits for, in sentences. It covers a day that every account has closed,
    so one account without a closed day holds up the proof of all."""
    accounts_in_force = accounts.in_force()
    closed = {account.pk: closed_up_to(account, now=now) for account in accounts_in_force}
    newest = max(filter(None, closed.values()), default=None)
    for account in accounts_in_force:
        last = closed[account.pk]
        if last is None:
            yield (
                f"{account} has not closed a day yet, so no day is proven, of no rail: see what"
                " keeps it open in Reconciliation."
            )
        elif newest and last < newest:
            yield (
                f"{account} is closed up to {last:%B %-d, %Y}, and other accounts up to"
                f" {newest:%B %-d, %Y}: see what keeps it open in Reconciliation."
            )


def refused(day: date, *, why: str) -> None:
    """Log why a day is not proven: it is tried every five minutes, and is an error once a day for
    each reason."""
    known = hashlib.sha256(f"{day} {why}".encode()).hexdigest()
    is_new = cache.add(f"day_not_proven:{known}", 1, timeout=_A_DAY_IN_SECONDS)
    tell = log.error if is_new else log.info
    tell("day_not_proven", day=day.isoformat(), why=why)


def disturbed(day: date, *, now: datetime) -> None:
    """Log that lines were taken while the day was being proven. That is over by the next time,
    unless it happens each time: so it is an error once the proof is late."""
    if day in late_days(now=now):
        log.error("day_not_proven", day=day.isoformat(), why=DISTURBED)
    else:
        log.info("day_proven_later", day=day.isoformat())


def closed_up_to(account: SettlementAccount, *, now: datetime) -> date | None:
    """The last day that an account has closed, as the banks' calendar has it; None without one.

    The days of an instant network are ours. Where a stand-in bank's days pass in seconds, one that
    is as many days ago by its calendar is as new (decision 0150).
    """
    rows = ClosedDay.objects.filter(rail=account.rail_id).order_by("-day")
    day = rows.values_list("day", flat=True).first()
    theirs = bank_clock.at_bank(now)
    if day is None or theirs == now or not InstantRail.objects.filter(pk=account.rail_id).exists():
        return day
    return day + (days.day_of(theirs) - days.day_of(now))
