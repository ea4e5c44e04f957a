"""The rules of the audit about closed days: each follows the one before, and nothing that belongs
to one has changed since.

What was in transit is recomputed from what was in transit a day before: by and by this proves all.
"""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import Finding, Scope

_RECENT = "(%(full)s OR closed.closed_at > %(since)s)"
# The day before, if it is of the same account, and from when and what the books are counted.
_BEFORE = """
JOIN reconciliation_bankstatement AS statement ON statement.id = closed.statement_id
JOIN reconciliation_settlementaccount AS account ON account.id = statement.account_id
LEFT JOIN LATERAL (
    SELECT earlier.id, earlier.day, earlier.ledger
    FROM reconciliation_closedday AS earlier
    JOIN reconciliation_bankstatement AS shown ON shown.id = earlier.statement_id
    WHERE shown.account_id = account.id AND earlier.day < closed.day
    ORDER BY earlier.day DESC LIMIT 1
) AS before ON true
CROSS JOIN LATERAL (
    SELECT coalesce(before.day, account.opened_on - 1) AS day,
        coalesce(before.ledger, account.opening) AS ledger
) AS base
"""
_CHAIN = f"""
SELECT '', closed.id, CASE
    WHEN closed.follows_id IS DISTINCT FROM previous.id THEN 'does not follow the day before it'
    WHEN (closed.rail_id, closed.day) IS DISTINCT FROM (account.rail_id, statement.last_day)
        THEN 'is not the day of its statement'
    WHEN closed.bank <> statement.closing
        THEN 'says ' || closed.bank || ' cents where the statement says ' || statement.closing
    ELSE 'leaves out a statement before it' END
FROM reconciliation_closedday AS closed {_BEFORE}
LEFT JOIN LATERAL (
    SELECT id FROM reconciliation_closedday AS earlier
    WHERE earlier.rail_id = closed.rail_id AND earlier.day < closed.day
    ORDER BY earlier.day DESC LIMIT 1
) AS previous ON true
WHERE {_RECENT} AND (
    closed.follows_id IS DISTINCT FROM previous.id
    OR (closed.rail_id, closed.day, closed.bank)
        IS DISTINCT FROM (account.rail_id, statement.last_day, statement.closing)
    OR EXISTS (
        SELECT FROM reconciliation_bankstatement AS left_out
        WHERE left_out.account_id = account.id AND left_out.last_day < closed.day
            AND NOT EXISTS (
                SELECT FROM reconciliation_closedday WHERE statement_id = left_out.id)))
"""  # noqa: S608  # our own text
_LEDGER = f"""
SELECT '', closed.id, 'the books of the day come to ' || base.ledger + counted.cents
    || ' cents over ' || counted.lines || ' lines and ' || matched.count || ' matches'
FROM reconciliation_closedday AS closed {_BEFORE}
CROSS JOIN LATERAL (
    SELECT count(*) AS lines, coalesce(sum(amount), 0) AS cents
    FROM reconciliation_expectedline
    WHERE rail_id = closed.rail_id AND counts_on > base.day AND counts_on <= closed.day
) AS counted
CROSS JOIN LATERAL (
    SELECT count(*) FROM reconciliation_match AS match
    WHERE match.rail_id = closed.rail_id AND match.day > base.day AND match.day <= closed.day
        AND voided_at IS NULL
) AS matched
WHERE {_RECENT} AND (closed.ledger, closed.expected_lines, closed.matches)
    IS DISTINCT FROM (base.ledger + counted.cents, counted.lines, matched.count)
"""  # noqa: S608
_IN_TRANSIT = f"""
SELECT '', closed.id, 'line ' || coalesce(line.kept_line, line.open_line) || ' was '
    || CASE WHEN line.kept_line IS NULL THEN 'in transit, and is not named'
        WHEN line.open_line IS NULL THEN 'not in transit, and is named'
        ELSE 'in transit with ' || line.open_amount || ' cents' END
FROM reconciliation_closedday AS closed {_BEFORE}
CROSS JOIN LATERAL (
    SELECT kept.line AS kept_line, kept.amount AS kept_amount,
        open.line AS open_line, open.amount AS open_amount
    FROM (SELECT line, amount FROM reconciliation_intransit WHERE day_id = closed.id) AS kept
    FULL JOIN (
        SELECT expected.line,
            CASE WHEN counts_on <= closed.day
                THEN expected.amount ELSE -expected.amount END AS amount
        FROM (
            SELECT line FROM reconciliation_intransit WHERE day_id = before.id
            UNION
            SELECT line FROM reconciliation_expectedline
            WHERE rail_id = closed.rail_id AND counts_on > base.day AND counts_on <= closed.day
            UNION
            SELECT line FROM reconciliation_expectedline AS shown
            JOIN reconciliation_match AS match ON match.id = shown.match_id
            WHERE match.rail_id = closed.rail_id
                AND match.day > base.day AND match.day <= closed.day
        ) AS candidate
        JOIN reconciliation_expectedline AS expected ON expected.line = candidate.line
        LEFT JOIN reconciliation_match AS match ON match.id = expected.match_id
        WHERE (counts_on <= closed.day) <> coalesce(match.day <= closed.day, false)
    ) AS open ON open.line = kept.line
) AS line
WHERE {_RECENT} AND line.kept_amount IS DISTINCT FROM line.open_amount
UNION ALL
SELECT '', closed.id, 'its lines in transit come to ' || kept.cents || ' cents over '
    || kept.lines || ' lines'
FROM reconciliation_closedday AS closed
CROSS JOIN LATERAL (
    SELECT count(*) AS lines, coalesce(sum(amount), 0) AS cents
    FROM reconciliation_intransit WHERE day_id = closed.id
) AS kept
WHERE {_RECENT}
    AND (closed.in_transit, closed.in_transit_lines) IS DISTINCT FROM (kept.cents, kept.lines)
"""  # noqa: S608
_UNMATCHED = f"""
SELECT '', closed.id, 'line ' || line.position || ' of its statement is matched with nothing'
FROM reconciliation_closedday AS closed
JOIN reconciliation_statementline AS line ON line.statement_id = closed.statement_id
LEFT JOIN reconciliation_matchedline AS matched ON matched.line_id = line.id
LEFT JOIN reconciliation_match AS match ON match.id = matched.match_id
WHERE {_RECENT} AND line.amount <> 0
    AND (match.id IS NULL OR match.day > closed.day OR match.voided_at IS NOT NULL)
"""  # noqa: S608
# Each of these columns may be newer than the day only if somebody went around the triggers.
_TOUCHED = """
SELECT '', match.id, 'is of a closed day, and was made or voided after that'
FROM reconciliation_match AS match
JOIN reconciliation_closedday AS closed ON closed.rail_id = match.rail_id
    AND closed.day >= match.day AND greatest(match.made_at, match.voided_at) > closed.closed_at
WHERE %(full)s OR match.made_at > %(since)s OR match.voided_at > %(since)s
UNION ALL
SELECT '', expected.line::text, 'counts on a closed day, and was taken after that'
FROM reconciliation_expectedline AS expected
JOIN reconciliation_closedday AS closed ON closed.rail_id = expected.rail_id
    AND closed.day >= expected.counts_on AND expected.taken_at > closed.closed_at
WHERE %(full)s OR closed.closed_at > %(since)s
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Check the chain of closed days, and that each is still what its rows come to."""
    if scope.tenant_ids is not None:
        return
    yield from audits.found("day_chain", _CHAIN, scope.values)
    yield from audits.found("day_ledger", _LEDGER, scope.values)
    yield from audits.found("day_in_transit", _IN_TRANSIT, scope.values)
    yield from audits.found("day_unmatched", _UNMATCHED, scope.values)
    yield from audits.found("day_touched", _TOUCHED, scope.values)
