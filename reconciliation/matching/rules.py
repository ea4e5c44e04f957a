"""The rules by which lines of statements are found in the books, in the order of decision 0216.

A rule has one or more ways to compare. A way puts lines of the bank, and lines of the books, into
groups. Two groups belong together if they are about the same thing and have the same sum, and if
there are as many such groups at the bank as in the books: they are paired in order then, and
otherwise none of them is.
"""

from __future__ import annotations

from dataclasses import dataclass

from reconciliation.matching.naming import LINES_OF_BANK, LINES_OF_BOOKS
from reconciliation.models import Rule


@dataclass(frozen=True, kw_only=True)
class Way:
    """`bank` and `books` are SQL for (line, amount, about, part), over what `naming` finds. Lines
    of one `about` and `part` are a group; of the bank, those of one statement. `part` also says in
    which order groups are paired."""

    rule: Rule
    bank: str
    books: str

    @property
    def sql(self) -> str:
        """The statement that ties what belongs together. Values: rail, rule, now, ids. Gives how
        many matches it made."""
        return (
            f"WITH {LINES_OF_BANK}, {LINES_OF_BOOKS},"
            f" bank AS MATERIALIZED ({self.bank}), books AS MATERIALIZED ({self.books}), {_TIE}"
        )


_TIE = """
bank_group AS (
    SELECT *, row_number() OVER in_order AS place,
        count(*) OVER (PARTITION BY about, cents) AS alike
    FROM (
        SELECT about, part, day, sum(bank.amount)::bigint AS cents, count(*) AS lines
        FROM bank JOIN free USING (line) GROUP BY about, part, day
    ) AS summed
    WINDOW in_order AS (PARTITION BY about, cents ORDER BY part, day)
), books_group AS (
    SELECT *, row_number() OVER in_order AS place,
        count(*) OVER (PARTITION BY about, cents) AS alike
    FROM (
        SELECT about, part, sum(amount)::bigint AS cents, count(line) AS lines
        FROM books GROUP BY about, part
    ) AS summed
    WINDOW in_order AS (PARTITION BY about, cents ORDER BY part)
), numbered AS (
    SELECT about, of_bank.part AS bank_part, of_bank.day, of_books.part AS books_part, cents,
        of_bank.lines AS bank_lines, of_books.lines AS books_lines, row_number() OVER () AS number
    FROM bank_group AS of_bank JOIN books_group AS of_books USING (about, cents, alike, place)
), pair AS MATERIALIZED (
    SELECT numbered.*, given.id
    FROM numbered JOIN unnest(%(ids)s::text[]) WITH ORDINALITY AS given (id, number) USING (number)
), made AS (
    INSERT INTO reconciliation_match (
        id, rail_id, rule, day, amount, statement_lines, expected_lines, made_at, made_by, reason,
        voided_by, voided_why
    )
    SELECT id, %(rail)s, %(rule)s, day, cents, bank_lines, books_lines, %(now)s, '', '', '', ''
    FROM pair
), of_bank AS (
    INSERT INTO reconciliation_matchedline (line_id, match_id)
    SELECT bank.line, pair.id
    FROM pair JOIN bank ON bank.about = pair.about AND bank.part = pair.bank_part
    JOIN free ON free.line = bank.line AND free.day = pair.day
), of_books AS (
    UPDATE reconciliation_expectedline AS tied SET match_id = pair.id
    FROM pair JOIN books ON books.about = pair.about AND books.part = pair.books_part
    WHERE tied.line = books.line
)
SELECT count(*) FROM pair
"""
_IN_ORDER = "lpad({}::text, 20, '0')"


def _lines(of: str, about: str, part: str = "''") -> str:
    return f"SELECT line, amount, {about} AS about, {part} AS part FROM {of}"  # noqa: S608


def _naming(names: str) -> str:
    """Lines of the bank that name one of these, each with its `name`."""
    return (
        f"(SELECT line, amount, min(name) AS name FROM said JOIN ({names}) AS known USING (name)"  # noqa: S608
        " GROUP BY line, amount HAVING count(*) = 1) AS naming"
    )


# --- What names a file of ours, or a batch of one

_BATCH_QUOTED = Way(
    rule=Rule.FILE,
    bank=_lines("quoted WHERE batch IS NOT NULL", "batch::text"),
    books=_lines("expected WHERE batch IS NOT NULL", "batch::text"),
)
# Of a file whose batches settle on several days, what settles on the day of the statement; or all.
_FILE_OF_DAY_QUOTED = Way(
    rule=Rule.FILE,
    bank=_lines("quoted", "file || ' ' || day"),
    books=_lines("due WHERE file <> ''", "file || ' ' || day"),
)
_FILE_QUOTED = Way(
    rule=Rule.FILE,
    bank=_lines("quoted", "file"),
    books=_lines("expected WHERE file <> ''", "file"),
)
# Our own account's side of a balanced file: what the bank shows of it undoes itself.
_OFFSETS = Way(
    rule=Rule.FILE,
    bank=_lines("quoted WHERE batch IS NOT NULL", "batch::text"),
    books=_lines(
        "(SELECT NULL::bigint AS line, 0 AS amount, id FROM ach_achbatch WHERE is_offset"
        " AND id IN (SELECT batch FROM quoted)) AS offsets",
        "id::text",
    ),
)

# --- What names nothing of ours: totals of a settlement date


def _of_its_day(part: str) -> Way:
    """Lines of the bank, each of which is a total of what settles on its day."""
    return Way(
        rule=Rule.BATCH,
        bank=_lines(
            "silent WHERE kind NOT IN ('fee', 'interest', 'return', 'reversal')",
            "day::text",
            _IN_ORDER.format("line"),
        ),
        books=_lines("due WHERE batch IS NOT NULL", "day::text", part),
    )


_TOTALS = (
    _of_its_day(_IN_ORDER.format("batch")),
    _of_its_day("file || sign(amount)"),
    _of_its_day("file"),
    _of_its_day("sign(amount)::text"),
    _of_its_day("''"),
)

# --- What came back: no entry of ours moved it

_RETURN_NAMED = Way(
    rule=Rule.RETURNS,
    bank=_lines(
        _naming("SELECT DISTINCT trace AS name FROM expected WHERE batch IS NULL AND trace <> ''"),
        "name",
    ),
    books=_lines("expected WHERE batch IS NULL AND trace <> ''", "trace"),
)


def _returns_of_day(which: str) -> Way:
    """All returns of the day that the bank does not name."""
    return Way(
        rule=Rule.RETURNS,
        bank=_lines("silent WHERE kind = 'return'", f"day || {which}"),
        books=_lines("due WHERE batch IS NULL", f"day || {which}"),
    )


_RETURN_TOTALS = (_returns_of_day("' ' || sign(amount)"), _returns_of_day("''"))

# --- What names one transfer: by the entry's trace number, or by what our files call it


def _transfer_named(column: str) -> Way:
    return Way(
        rule=Rule.END_TO_END,
        bank=_lines(
            _naming(f"SELECT DISTINCT {column} AS name FROM expected WHERE {column} <> ''"),  # noqa: S608
            "name",
            _IN_ORDER.format("line"),
        ),
        books=_lines(f"expected WHERE {column} <> ''", column, _IN_ORDER.format("line")),
    )


WAYS = (
    _BATCH_QUOTED,
    _FILE_OF_DAY_QUOTED,
    _FILE_QUOTED,
    _OFFSETS,
    *_TOTALS,
    _RETURN_NAMED,
    *_RETURN_TOTALS,
    _transfer_named("trace"),
    _transfer_named("reference"),
)
