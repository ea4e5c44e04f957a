"""Lines of the books that come to zero together, of which no bank shows anything.

A bank that posts one sum for a batch, for what settles of a file on a day, or for the returns of a
day posts nothing where that sum is zero. Its lines are tied to each other once they are overdue: up
to then the bank may show them one by one (decision 0216).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import structlog
from django.db import transaction

from common.engine import sql
from reconciliation import accounts, expecting, figures
from reconciliation.matching.tying import tie
from reconciliation.models import Rule

log = structlog.get_logger(__name__)

# Groups of lines that count on one day, by what a bank adds up. All of a group is free, and has
# been so for long; a day without a free line is not looked at.
_GROUPS = """
SELECT array_agg(line ORDER BY line)
FROM reconciliation_expectedline
WHERE rail_id = %(rail)s AND {which} AND counts_on IN (
    SELECT counts_on FROM reconciliation_expectedline
    WHERE rail_id = %(rail)s AND match_id IS NULL
        AND counts_on BETWEEN %(opened_on)s AND %(long_ago)s)
GROUP BY counts_on, {by} HAVING sum(amount) = 0 AND count(match_id) = 0
ORDER BY min(line)
"""
_SUMS = tuple(
    _GROUPS.format(which=which, by=by)
    for which, by in (
        ("batch IS NOT NULL", "batch"),
        ("file <> ''", "file"),
        ("batch IS NULL AND step <> ALL(%(own_steps)s)", "rail_id"),
    )
)


def tie_open(rail: str, *, now: datetime) -> int:
    """Tie what is overdue on the day of a statement that is open; returns how many matches that
    made. To do it again does no harm."""
    account = accounts.current(rail)
    if account is None:
        return 0
    days = account.statements.filter(closed_day=None).order_by("last_day")
    return sum(
        _tie(rail, day, groups, now)
        for day in days.values_list("last_day", flat=True)
        for groups in _SUMS
    )


@transaction.atomic
def _tie(rail: str, day: date, groups: str, now: datetime) -> int:
    found = _found(rail, day, groups)
    for lines in found:
        tie([], lines, rail=rail, rule=Rule.NETTED, day=day, now=now)
        log.warning("bank_shows_nothing_of_zero", rail=rail, day=str(day), lines=len(lines))
    return len(found)


def _found(rail: str, day: date, groups: str) -> Sequence[Sequence[int]]:
    account = accounts.lock(rail)
    if account is None:
        return ()
    values: dict[str, Any] = {
        "rail": rail,
        "opened_on": account.opened_on,
        "long_ago": figures.long_ago(day),
        "own_steps": [str(step) for step in expecting.OWN_STEPS],
    }
    return [lines for (lines,) in sql.rows(groups, values)]
