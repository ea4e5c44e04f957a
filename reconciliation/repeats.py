"""Lines of the bank that look like another one again: posted twice, it explains nothing else.

A line is left to people as soon as it is taken if another one, of the same statement or of one of
the week before, has the same amount and the same number of the bank's own. Whatever else it says,
no rule uses it. What both name of ours is no sign by itself: a bank may post a file in equal parts,
and a debit that is tried again keeps its name (decision 0216).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from django.db import connection

from networks.bank_statements.items import LineKind
from reconciliation.models import BankStatement, Rule

_DAYS_BEFORE = 7
# By these the bank tells its lines apart. A fee is the bank's own, and the same each day.
_OF_THE_BANK = ["bank", "transaction", "trace"]
_OF_ITSELF = [str(LineKind.FEE), str(LineKind.INTEREST)]
# What these rules tied, they found by a name that the line says.
_BY_NAME = [str(Rule.FILE), str(Rule.RETURNS), str(Rule.END_TO_END)]

# One list, sorted: how many lines there are, the planner does not know when they have just come.
_LEAVE = """
INSERT INTO reconciliation_matchedline (line_id)
SELECT DISTINCT line FROM (
    SELECT line.id AS line, line.statement_id, row_number() OVER (
        PARTITION BY line.amount, said.key, said.value ORDER BY line.id) AS place
    FROM reconciliation_statementline AS line
    CROSS JOIN LATERAL jsonb_each_text(line."references") AS said
    WHERE line.statement_id = ANY(%(near)s) AND said.key = ANY(%(of_the_bank)s)
        AND line.amount <> 0 AND line.kind <> ALL(%(of_itself)s)
) AS placed WHERE place > 1 AND statement_id = %(statement)s
"""
# Lines by their ids, each with what else of its amount says the same under the same name.
_ALIKE = f"""
FROM (
    SELECT line.id, line.amount, line.position, statement.account_id, statement.last_day,
        said.key, said.value
    FROM reconciliation_statementline AS line
    JOIN reconciliation_bankstatement AS statement ON statement.id = line.statement_id
    CROSS JOIN LATERAL jsonb_each_text(line."references") AS said
    WHERE line.id = ANY(%(lines)s) AND line.amount <> 0 AND line.kind <> ALL(%(of_itself)s)
) AS line
JOIN reconciliation_bankstatement AS near ON near.account_id = line.account_id
    AND near.last_day BETWEEN line.last_day - {_DAYS_BEFORE} AND line.last_day + {_DAYS_BEFORE}
JOIN reconciliation_statementline AS other ON other.statement_id = near.id
    AND other.amount = line.amount AND other.id <> line.id
    AND other."references" ->> line.key = line.value
"""  # noqa: S608  # our own text
_FIRST = f"""
SELECT DISTINCT ON (line.id) line.position, line.last_day, other.position, near.last_day {_ALIKE}
WHERE other.id < line.id ORDER BY line.id, other.id
"""  # our own text
_SPENT = f"""
SELECT line.position, line.last_day, other.position, near.last_day {_ALIKE}
JOIN reconciliation_matchedline AS matched ON matched.line_id = other.id
JOIN reconciliation_match AS match ON match.id = matched.match_id
WHERE line.key = ANY(%(of_the_bank)s) OR match.rule = ANY(%(by_name)s)
ORDER BY line.id, other.id LIMIT 1
"""


def leave_to_people(statement: BankStatement) -> int:
    """Have no rule match those lines of a statement that look like another one again; returns how
    many. In the transaction that takes the statement."""
    since = statement.last_day - timedelta(days=_DAYS_BEFORE)
    near = BankStatement.objects.filter(
        account=statement.account_id, last_day__range=(since, statement.last_day)
    )
    values: dict[str, Any] = {
        "statement": statement.pk,
        "near": list(near.values_list("pk", flat=True)),
        "of_the_bank": _OF_THE_BANK,
        "of_itself": _OF_ITSELF,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LEAVE, values)
        return int(cursor.rowcount)


def sentences(lines: Iterable[int]) -> list[str]:
    """Which of these lines look like an earlier one again. One query, if there are lines."""
    return [_sentence(row) for row in _rows(_FIRST, lines)]


def spent(lines: Iterable[int]) -> str:
    """That one of these lines looks like one that is matched; empty if none does. One query."""
    return next(map(_sentence, _rows(_SPENT, lines)), "")


def _sentence(row: tuple[int, date, int, date]) -> str:
    position, day, other, other_day = row
    return f"Line {position} of {_named(day)} looks like line {other} of {_named(other_day)} again."


def _rows(statement: str, lines: Iterable[int]) -> Iterable[tuple[int, date, int, date]]:
    if not (asked := list(lines)):
        return ()
    values: dict[str, Any] = {
        "lines": asked,
        "of_the_bank": _OF_THE_BANK,
        "of_itself": _OF_ITSELF,
        "by_name": _BY_NAME,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def _named(day: date) -> str:
    return f"{day:%B %-d, %Y}"
