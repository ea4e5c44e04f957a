"""The rules of the audit about matches and about what the books expect of the bank.

A match has the same sum on both sides, over the lines that it says it has. What is expected is what
the operator's lines say, each once, and none is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import Finding, Scope
from common.database_clock import database_now
from reconciliation import expecting

_RECENT = "(%(full)s OR match.made_at > %(since)s)"
_SUMS = f"""
SELECT '', match.id, CASE WHEN voided_at IS NOT NULL THEN 'is voided, and has lines'
    ELSE 'says ' || match.amount || ' cents over ' || statement_lines || ' and ' || expected_lines
        || ' lines, and has ' || of_bank.cents || ' over ' || of_bank.lines || ' of the bank and '
        || of_books.cents || ' over ' || of_books.lines || ' of the books' END
FROM reconciliation_match AS match
CROSS JOIN LATERAL (
    SELECT count(*) AS lines, coalesce(sum(line.amount), 0) AS cents
    FROM reconciliation_matchedline AS matched
    JOIN reconciliation_statementline AS line ON line.id = matched.line_id
    WHERE matched.match_id = match.id
) AS of_bank
CROSS JOIN LATERAL (
    SELECT count(*) AS lines, coalesce(sum(amount), 0) AS cents
    FROM reconciliation_expectedline WHERE match_id = match.id
) AS of_books
WHERE {_RECENT} AND CASE WHEN voided_at IS NULL
    THEN (match.statement_lines, match.amount, match.expected_lines, match.amount)
        IS DISTINCT FROM (of_bank.lines, of_bank.cents, of_books.lines, of_books.cents)
    ELSE of_bank.lines + of_books.lines > 0 END
"""  # noqa: S608  # our own text
_PLACES = f"""
SELECT DISTINCT '', match.id, 'has a line of another statement or rail than its own'
FROM reconciliation_match AS match
JOIN reconciliation_matchedline AS matched ON matched.match_id = match.id
JOIN reconciliation_statementline AS line ON line.id = matched.line_id
JOIN reconciliation_bankstatement AS statement ON statement.id = line.statement_id
JOIN reconciliation_settlementaccount AS account ON account.id = statement.account_id
WHERE {_RECENT}
    AND (statement.last_day, account.rail_id) IS DISTINCT FROM (match.day, match.rail_id)
UNION ALL
SELECT DISTINCT '', match.id, 'has a line of the books of another rail'
FROM reconciliation_match AS match
JOIN reconciliation_expectedline AS expected ON expected.match_id = match.id
WHERE {_RECENT} AND expected.rail_id <> match.rail_id
"""  # noqa: S608
_EXPECTED = f"""
SELECT '', 'line ' || expected.line, CASE WHEN source.id IS NULL
    THEN 'is expected of the bank, and the books do not have it'
    ELSE 'is expected of the bank as something else than what is booked' END
FROM reconciliation_expectedline AS expected
LEFT JOIN balance_operator_line AS source ON source.id = expected.line
WHERE (%(full)s OR expected.line >= (
        SELECT min(id + 0) FROM balance_operator_line WHERE created_at > %(since)s))
    AND (source.id IS NULL OR expected.counts_on < source.day
        OR (expected.amount, expected.step, expected.rail_id)
            IS DISTINCT FROM ({expecting.CENTS}, source.step, source.rail))
"""  # noqa: S608
# Judged once they are old enough to have been taken; so is the account.
_MISSING = """
SELECT coalesce(source.tenant_id, ''), source.source_id,
    'line ' || source.id || ' is not expected of the bank'
FROM (
    SELECT rail_id, min(opened_on) AS first_day FROM reconciliation_settlementaccount
    WHERE status = 'current' GROUP BY rail_id HAVING min(decided_at) < %(taken_before)s
) AS account
JOIN balance_operator_line AS source ON source.rail = account.rail_id
    AND source.day >= account.first_day
WHERE (%(full)s OR source.created_at > %(since)s - %(looked_back)s)
    AND source.created_at < %(taken_before)s AND source.step = ANY(%(steps)s)
    AND NOT EXISTS (
        SELECT FROM reconciliation_expectedline AS expected WHERE expected.line = source.id)
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Check the sums and lines of matches, and that what is expected is what is booked, all of
    it."""
    looked_back = expecting.LOOKED_BACK
    taken = {
        "looked_back": looked_back,
        "taken_before": database_now() - looked_back,
        "steps": expecting.STEPS,
    }
    yield from audits.found("match_sums", _SUMS, scope.values)
    yield from audits.found("match_places", _PLACES, scope.values)
    yield from audits.found("match_expected", _EXPECTED, scope.values)
    yield from audits.found("match_missing", _MISSING, scope.values | taken)
