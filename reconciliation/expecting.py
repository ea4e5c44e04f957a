"""Takes what the books expect of bank statements: the lines of the operator that move settlement.

Each line is taken once, a little after it was written, and counts on its day or, where that day is
closed, on the first open one. So a posting does no more work than before (decision 0216).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Min

from balance.operator.accounts import PAIRS, OperatorAccount, Step, steps_on
from common.engine import arrays
from networks import calendar
from networks.ach.models.events import EVENT_PREFIX
from networks.instant.models import InstantRail
from reconciliation import accounts
from reconciliation.models import ClosedDay, SettlementAccount
from reconciliation.states import AccountStatus
from transfers import dishonors
from transfers.books import DISHONORED

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
_LINES_TOGETHER = 20_000

_SIGN = "CASE source.step {} END".format(
    " ".join(
        f"WHEN '{step}' THEN {PAIRS[step].sign(OperatorAccount.SETTLEMENT)}"
        for step in steps_on(OperatorAccount.SETTLEMENT)
    )
)
# What a line of the operator is to a statement: cents above zero come to the account.
CENTS = f"source.amount * {_SIGN}"
# Lines that were not taken yet, in the order of their dates: whoever is stopped in between has
# taken all of before.
_NEW = """
SELECT id FROM balance_operator_line AS source
WHERE created_at >= coalesce(
        (SELECT created_at FROM balance_operator_line WHERE id = (
            SELECT max(line) FROM reconciliation_expectedline
            WHERE rail_id = %(rail)s AND step <> ALL(%(own_steps)s)
        )) - %(looked_back)s, %(first_moment)s)
    AND rail = %(rail)s AND step = ANY(%(steps)s) AND day >= %(first_day)s
    AND NOT EXISTS (SELECT FROM reconciliation_expectedline AS taken WHERE taken.line = source.id)
ORDER BY created_at, id
"""
_SOURCE = f"""
    SELECT id, rail, step, source_id, day, {CENTS} AS cents
    FROM balance_operator_line AS source WHERE id = ANY(%(lines)s::text::bigint[])
"""  # noqa: S608  # our own text
_REFERENCE = "coalesce('ACH' || lpad(coalesce({0}.first_number, {0}.id)::text, 12, '0'), '')"
# The entry of a transfer moves money one way. What goes the other way took it back: a return, which
# the bank names by the trace of its own, or a reversal, which is an entry of ours.
_OF_TRANSFERS = f"""
SELECT source.id, source.rail, source.step, source.cents, source.day, moved.batch_id,
    coalesce(moved.trace_number, back.trace, '') AS trace,
    {_REFERENCE.format("named")} AS reference
FROM ({_SOURCE} AND source_type <> '{dishonors.SOURCE_TYPE}') AS source
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
"""  # noqa: S608
# Our bank's refusal of a return is an entry of a file of replies. What the other bank answers to it
# has a trace of that bank's own, as a return has.
_OF_DISHONORS = f"""
SELECT source.id, source.rail, source.step, source.cents, source.day, reply.batch_id,
    coalesce(CASE event.kind WHEN 'return_contested' THEN record.rdfi_trace
        ELSE reply.trace_number END, ''),
    {_REFERENCE.format("entry")}
FROM ({_SOURCE} AND source_type = '{dishonors.SOURCE_TYPE}') AS source
LEFT JOIN network_inbox_returndishonor AS dishonor ON dishonor.id = source.source_id
LEFT JOIN network_inbox_inboundevent AS message ON message.id = CASE
    WHEN source.step = ANY(%(dishonored)s) THEN dishonor.dishonored_id
    ELSE dishonor.contested_id END
LEFT JOIN ach_achevent AS event ON event.rail_id = source.rail AND event.id = CASE
    WHEN message.event_id ~ '^{EVENT_PREFIX}[0-9]{{1,18}}$'
    THEN substr(message.event_id, {len(EVENT_PREFIX) + 1})::bigint END
LEFT JOIN ach_achentry AS entry ON entry.id = event.entry_id
LEFT JOIN ach_inrecord AS record ON record.id = event.record_id
LEFT JOIN ach_achreply AS reply ON event.kind = 'return_dishonored'
    AND reply.record_id = record.id AND reply.kind = 'dishonor' AND reply.status = 'accepted'
"""  # noqa: S608
# Of an instant rail: a transfer is named by its end-to-end id. What went the other way has one of
# its own where the network gives money back by a new payment: a credit that came back to us, or the
# one by which we gave a credit back. Money that people moved is named by the move's id.
_OF_INSTANT = f"""
SELECT source.id, source.rail, source.step, source.cents, source.day, NULL::bigint AS batch_id,
    '' AS trace, coalesce(back.end_to_end_id, said.end_to_end_id, move.id, '') AS reference
FROM ({_SOURCE}) AS source
LEFT JOIN instant_positionmove AS move ON move.id = source.source_id
LEFT JOIN instant_conversation AS said ON said.instruction_id = source.source_id
    AND said.instruction_id <> '' AND said.rail_id = source.rail
LEFT JOIN LATERAL (
    SELECT back.end_to_end_id FROM instant_conversation AS back
    WHERE said.kind = 'payment' AND source.cents > 0
        AND back.original_id = said.id AND back.kind = 'credit' AND back.mismatch = ''
    UNION ALL
    SELECT back.end_to_end_id FROM instant_conversation AS paid
    JOIN instant_conversation AS back ON back.original_id = paid.id AND back.kind = 'give_back'
        AND back.status NOT IN ('rejected', 'withdrawn')
    WHERE said.kind = 'request' AND source.cents < 0
        AND paid.original_id = said.id AND paid.kind = 'credit' AND paid.mismatch = ''
    LIMIT 1
) AS back ON true
"""  # noqa: S608
_TAKE = """
INSERT INTO reconciliation_expectedline (
    line, rail_id, step, amount, counts_on, batch, file, trace, reference, taken_at
)
SELECT known.id, rail, step, cents, greatest(day, %(open_from)s),
    batch_id, coalesce(batch.file_id, ''), trace, reference, %(now)s
FROM ({known}) AS known
LEFT JOIN ach_achbatch AS batch ON batch.id = known.batch_id
ON CONFLICT DO NOTHING
"""
_TAKE_OF_ACH = _TAKE.format(known=f"{_OF_TRANSFERS} UNION ALL {_OF_DISHONORS}")
_TAKE_OF_INSTANT = _TAKE.format(known=_OF_INSTANT)


def take(rail: str, *, now: datetime) -> int:
    """Take what was not taken yet; returns how many lines. To do it again does no harm.

    A rail without an account expects nothing. Of many lines some are taken at a time, each time in
    a transaction of its own unless the caller has one.
    """
    if accounts.current(rail) is None:
        return 0
    new = _new_lines(rail)
    return sum(
        _take(rail, new[first : first + _LINES_TOGETHER], now)
        for first in range(0, len(new), _LINES_TOGETHER)
    )


def _new_lines(rail: str) -> Sequence[int]:
    first_day = first_day_of(rail)
    values: dict[str, Any] = {
        "rail": rail,
        "steps": STEPS,
        "own_steps": [str(step) for step in OWN_STEPS],
        "first_day": first_day,
        "first_moment": calendar.opening_of_business(first_day) - _EARLY,
        "looked_back": LOOKED_BACK,
    }
    with connection.cursor() as cursor:
        cursor.execute(_NEW, values)
        return [line for (line,) in cursor.fetchall()]


@transaction.atomic
def _take(rail: str, lines: Sequence[int], now: datetime) -> int:
    """Somebody else may have taken them meanwhile."""
    account = accounts.lock(rail)
    if account is None:
        return 0
    values: dict[str, Any] = {
        "lines": arrays.plain(lines),
        "dishonored": [str(way.dishonored) for way in DISHONORED.values()],
        "open_from": first_open_day(account),
        "now": now,
    }
    with connection.cursor() as cursor:
        is_instant = InstantRail.objects.filter(pk=rail).exists()
        cursor.execute(_TAKE_OF_INSTANT if is_instant else _TAKE_OF_ACH, values)
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
