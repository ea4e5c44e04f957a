"""What the operator's accounts were debited and credited with.

No account has a row that counts along, because all tenants would wait for it. The lines of each
Eastern day that is over are added up once, by step and rail (`OperatorDay`); the sum of all is the
stored days and the lines after them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta

from balance.kinds import PostingType
from balance.operator.accounts import PAIRS, OperatorAccount, Step, name_of
from common import days
from common.database_clock import database_now
from common.engine import sql
from common.engine.postgresql.prepared import Row
from tenants.models import Mode

# Nobody writes a line of a day that ended so long ago: a task ends after two minutes, a request
# after half of one, and transactions that idle are ended.
OVER_AFTER = timedelta(hours=1)

_DAY = "(created_at AT TIME ZONE 'America/New_York')::date"
_AFTER_STORED = """created_at >= coalesce(
    (SELECT (max(booked_on) + 1)::timestamp AT TIME ZONE 'America/New_York'
        FROM balance_operator_day), '-infinity')"""
_SUMS = f"""
SELECT step, rail, sum(amount)::bigint FROM (
    SELECT step, rail, amount FROM balance_operator_day
    UNION ALL
    SELECT step, rail, amount FROM balance_operator_line WHERE {_AFTER_STORED}
) AS every GROUP BY step, rail
"""  # noqa: S608  # our own text
_ROLL_UP = f"""
WITH stored AS (
    INSERT INTO balance_operator_day (booked_on, rail, step, lines, amount)
    SELECT {_DAY}, rail, step, count(*), sum(amount)
    FROM balance_operator_line
    WHERE {_AFTER_STORED} AND created_at < %(today)s
    GROUP BY 1, 2, 3
    ON CONFLICT DO NOTHING
    RETURNING booked_on
)
SELECT count(DISTINCT booked_on) FROM stored
"""  # noqa: S608


# An adjustment names no rail, and it has one line.
_OF_SANDBOXES = """
SELECT adjustment.type, sum(adjustment.amount)::bigint
FROM balance_adjustment AS adjustment JOIN tenants_tenant AS tenant ON tenant.id = tenant_id
WHERE tenant.mode <> %(mode)s GROUP BY adjustment.type
"""
_NO_RAIL = ""
_ADJUSTED = {PostingType.CREDIT: Step.ADJUSTED_UP, PostingType.DEBIT: Step.ADJUSTED_DOWN}


@dataclass(frozen=True, kw_only=True)
class OperatorTotal:
    """What one account of one rail was debited and credited with, in cents."""

    account: OperatorAccount
    rail: str
    debit: int
    credit: int

    @property
    def name(self) -> str:
        """As reports call the account."""
        return name_of(self.account, self.rail)


def totals() -> list[OperatorTotal]:
    """All accounts that have lines, by account and rail, as of one moment."""
    return _by_account(sql.rows(_SUMS, {}))


def totals_of_live(rails: Collection[str]) -> list[OperatorTotal]:
    """The accounts of these rails and of what names no rail, without the adjustments of sandbox
    tenants, whose money is nowhere. Of one moment in a transaction that sees one."""
    wanted = {*rails, _NO_RAIL}
    found = [row for row in sql.rows(_SUMS, {}) if row[1] in wanted]
    apart = [
        (_ADJUSTED[type], _NO_RAIL, -amount)
        for type, amount in sql.rows(_OF_SANDBOXES, {"mode": Mode.LIVE})
    ]
    return _by_account([*found, *apart])


def _by_account(rows: Iterable[Row]) -> list[OperatorTotal]:
    sums: dict[tuple[OperatorAccount, str], list[int]] = defaultdict(lambda: [0, 0])
    for step, rail, amount in rows:
        pair = PAIRS[Step(step)]
        sums[pair.debited, rail][0] += amount
        sums[pair.credited, rail][1] += amount
    return [
        OperatorTotal(account=account, rail=rail, debit=debit, credit=credit)
        for (account, rail), (debit, credit) in sorted(sums.items())
    ]


def roll_up() -> int:
    """Store the totals of the days that are over and not stored yet; returns of how many days.

    Whoever does it at the same time writes the same rows, once.
    """
    today = days.start_of(days.day_of(database_now() - OVER_AFTER))
    ((count,),) = sql.rows(_ROLL_UP, {"today": today})
    return int(count)
