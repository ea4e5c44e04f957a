"""Has a day proven that every account behind the rails has closed (decision 0217).

What the accounts come to and what tenants own are read in one snapshot. Lines that the books got
since the day are taken first, so that each line is on a statement, expected, or of the time before
the account.
"""

from __future__ import annotations

from datetime import date, datetime

import structlog
from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet, Sum
from psycopg.errors import SerializationFailure

from common.engine import sql
from networks.ach import rails
from networks.instant import rails as instant_rails
from networks.instant.models import InstantRail
from reconciliation import accounts, expecting, failing, unproven
from reconciliation.failing import EVERY_RAIL, Sweep
from reconciliation.models import ClosedDay, ExpectedLine, SettlementAccount
from solvency import coverage, taking
from solvency.errors import ProofRefused, ProvenAlready
from solvency.figures import ClosedFigures
from solvency.models import ProofReport

log = structlog.get_logger(__name__)

# What the books had before the first day whose lines are expected: it lay in what was agreed on.
_BEFORE = f"""
SELECT coalesce(sum({expecting.CENTS}), 0)::bigint FROM balance_operator_line AS source
WHERE rail = %(rail)s AND step = ANY(%(steps)s) AND day < %(first_day)s
"""  # noqa: S608  # our own text


def sweep(*, now: datetime) -> None:
    """Prove what is due. That it fails is noted."""
    with failing.noted(Sweep.PROVING, EVERY_RAIL, now=now):
        prove_due(now=now)


def prove_due(*, now: datetime) -> ProofReport | None:
    """Prove the newest day that all accounts have closed, unless it is proven; gives its report.

    Days that closed together with a later one are not proven by themselves: what tenants owned at
    their end is over. A difference is logged as an error once a day, and the day is tried again.
    """
    if (day := _due_day(now)) is None:
        return None
    try:
        report = _prove(day, now)
    except ProvenAlready:
        log.info("day_proven_by_another", day=day.isoformat())
    except ProofRefused as refusal:
        unproven.refused(day, why=refusal.detail)
    except OperationalError as error:
        if not isinstance(error.__cause__, SerializationFailure):
            raise
        unproven.disturbed(day, now=now)  # somebody took lines meanwhile
        failing.fails(Sweep.PROVING, EVERY_RAIL, why=unproven.DISTURBED, now=now)
    else:
        if missing := coverage.missing(report):
            log.error("tenants_not_covered", day=report.day.isoformat(), cents=missing)
        return report
    return None


def _due_day(now: datetime) -> date | None:
    """The newest day that all accounts have closed; None if one has closed none up to it, or it is
    proven."""
    every = accounts.in_force()
    ends = [unproven.closed_up_to(account, now=now) for account in every]
    if not ends or None in ends:
        return None
    day = min(filter(None, ends))
    if ProofReport.objects.filter(day__gte=day).exists():
        return None
    return day if all(_closed(account, day).exists() for account in every) else None


def _prove(day: date, now: datetime) -> ProofReport:
    is_own = not connection.in_atomic_block
    with transaction.atomic():
        if is_own:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return _proven(day, now)


def _proven(day: date, now: datetime) -> ProofReport:
    every = accounts.in_force()
    _require_apart(every)
    return taking.take(day, [_figures(account, day, now) for account in every], now=now)


def _require_apart(every: list[SettlementAccount]) -> None:
    """Raises ProofRefused if two rails have one account: its money would count twice."""
    rail_of: dict[tuple[str, str], str] = {}
    for account in every:
        place = _bank_of(account.rail_id), accounts.number_of(account)
        first = rail_of.setdefault(place, account.rail_id)
        if first != account.rail_id:
            raise ProofRefused(
                f"The rails {first} and {account.rail_id} have the same account ··{account.last4},"
                " whose money would count twice: give each an account of its own."
            )


def _bank_of(rail: str) -> str:
    """The routing number of the bank behind a rail."""
    if InstantRail.objects.filter(pk=rail).exists():
        return instant_rails.current(rail).terms.routing_number
    return rails.current(rail).parsed.odfi_routing


def _figures(account: SettlementAccount, day: date, now: datetime) -> ClosedFigures:
    rail = account.rail_id
    expecting.take(rail, now=now)
    closed = _closed(account, day).latest("day")
    return ClosedFigures(
        rail=rail,
        last4=account.last4,
        bank_closing=closed.bank,
        not_on_statement=closed.in_transit + _expected(rail, counts_on__gt=closed.day),
        own_funds=account.opening
        - _before(rail)
        - _expected(rail, counts_on__lt=account.opened_on),
    )


def _closed(account: SettlementAccount, day: date) -> QuerySet[ClosedDay]:
    return ClosedDay.objects.filter(rail=account.rail_id, day__lte=day)


def _expected(rail: str, **which: date) -> int:
    rows = ExpectedLine.objects.filter(rail=rail, **which)
    return int(rows.aggregate(cents=Sum("amount", default=0))["cents"])


def _before(rail: str) -> int:
    first_day = expecting.first_day_of(rail)
    values = {"rail": rail, "steps": expecting.STEPS, "first_day": first_day}
    ((cents,),) = sql.rows(_BEFORE, values)
    return int(cents)
