"""Takes what the books expect of bank statements: the lines of the operator that move settlement.

Each line is taken once, a little after it was written, and counts on its day or, where that day is
closed, on the first open one. So a posting does no more work than before (decision 0216).
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Min

from balance.operator.accounts import PAIRS, OperatorAccount, Step, steps_on
from networks import calendar
from reconciliation import accounts
from reconciliation.models import ClosedDay, SettlementAccount
from reconciliation.states import AccountStatus

STEPS = [str(step) for step in steps_on(OperatorAccount.SETTLEMENT)]
# Steps that a bank statement gave the reason for. What they move is expected when it is written
# (`own_lines`), so it does not say up to where lines were taken.
OWN_STEPS = (
    Step.FEE_CHARGED,
    Step.FEE_REFUNDED,
    Step.SUSPENSE_CREDITED,
    Step.SUSPENSE_DEBITED,
    Step.CLEARED_CREDIT,
    Step.CLEARED_DEBIT,
)
# A line is dated when its transaction begins. Whoever writes one is done long before.
LOOKED_BACK = timedelta(hours=1)
# The bank names a day of settlement, and the books learn of it on that day or soon after.
_EARLY = timedelta(days=30)

_SIGN = "CASE source.step {} END".format(
    " ".join(
        f"WHEN '{step}' THEN {PAIRS[step].sign(OperatorAccount.SETTLEMENT)}"
        for step in steps_on(OperatorAccount.SETTLEMENT)
    )
)
# What a line of the operator is to a statement: cents above zero come to the account.
CENTS = f"source.amount * {_SIGN}"
# The entry of a transfer moves money one way. What goes the other way took it back: a return, which
# the bank names by the trace of its own, or a reversal, which is an entry of ours.
_TAKE = f"""
INSERT INTO reconciliation_expectedline (
    line, rail_id, step, amount, counts_on, batch, file, trace, reference, taken_at
)
SELECT source.id, source.rail, source.step, source.cents, greatest(source.day, %(open_from)s),
    moved.batch_id, coalesce(batch.file_id, ''),
    coalesce(moved.trace_number, back.trace, ''),
    coalesce('ACH' || lpad(coalesce(named.first_number, named.id)::text, 12, '0'), ''), %(now)s
FROM (
    SELECT id, rail, step, source_id, day, {CENTS} AS cents
    FROM balance_operator_line AS source
    WHERE created_at >= coalesce(
            (SELECT created_at FROM balance_operator_line WHERE id = (
                SELECT max(line) FROM reconciliation_expectedline
                WHERE rail_id = %(rail)s AND step <> ALL(%(own_steps)s)
            )) - %(looked_back)s, %(first_moment)s)
        AND rail = %(rail)s AND step = ANY(%(steps)s) AND day >= %(first_day)s
) AS source
LEFT JOIN ach_achentry AS entry ON entry.instruction_id = source.source_id
    AND entry.rail_id = source.rail AND entry.status <> 'requeued'
LEFT JOIN LATERAL (
    SELECT record.rdfi_trace AS trace
    FROM ach_achevent AS event JOIN ach_inrecord AS record ON record.id = event.record_id
    WHERE event.entry_id = entry.id AND event.kind = 'returned'
        AND entry.is_debit <> (source.cents > 0)
    ORDER BY event.id DESC LIMIT 1
) AS back ON true
LEFT JOIN ach_achreversal AS reversal ON reversal.entry_id = entry.id AND reversal.status = 'done'
    AND entry.is_debit <> (source.cents > 0) AND back.trace IS NULL
LEFT JOIN ach_achentry AS reversing ON reversing.instruction_id = reversal.id
    AND reversing.status <> 'requeued'
LEFT JOIN ach_achentry AS named ON named.id = coalesce(reversing.id, entry.id)
LEFT JOIN ach_achentry AS moved ON moved.id = named.id
    AND moved.is_debit = (source.cents > 0)
LEFT JOIN ach_achbatch AS batch ON batch.id = moved.batch_id
ON CONFLICT DO NOTHING
"""  # noqa: S608  # our own text


@transaction.atomic
def take(rail: str, *, now: datetime) -> int:
    """Take what was not taken yet; returns how many lines. To do it again does no harm.

    A rail without an account expects nothing.
    """
    account = accounts.lock(rail)
    if account is None:
        return 0
    first_day = first_day_of(rail)
    values: dict[str, Any] = {
        "rail": rail,
        "steps": STEPS,
        "own_steps": [str(step) for step in OWN_STEPS],
        "first_day": first_day,
        "first_moment": calendar.opening_of_business(first_day) - _EARLY,
        "open_from": first_open_day(account),
        "looked_back": LOOKED_BACK,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, values)
        return int(cursor.rowcount)


def first_day_of(rail: str) -> date:
    """The first day whose lines are expected: that of the rail's first account, because lines of
    days before a new one may be told late. The rail has an account."""
    rows = SettlementAccount.objects.filter(rail_id=rail, status=AccountStatus.CURRENT)
    first: date = rows.aggregate(first=Min("opened_on"))["first"]
    return first


def first_open_day(account: SettlementAccount) -> date:
    """The first day that is not closed, whether banks are open on it or not."""
    last = ClosedDay.objects.filter(rail=account.rail_id).order_by("-day").first()
    return max(account.opened_on, last.day + calendar.ONE_DAY) if last else account.opened_on
