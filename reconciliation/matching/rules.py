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
    """`bank` is SQL for (line, amount, day, about, part), and `books` for the same without the day,
    over what `naming` finds. Lines of one `about` and `part` are a group; of the bank, those of one
    day, which is one statement. `part` also says in which order groups are paired."""

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


# Groups are compared by sorting, and carry their lines as arrays. Joins would say the same, but the
# planner knows little of what is worked out on the way: where it takes a hundred thousand groups
# for one, a join compares each with each (decision 0216). An element of the type `name` is as wide
# as any other, so the last one of an array is found as fast as the first. Lines of the books are
# changed in the order in which they lie on the disk.
_TIE = """
grouped AS (
    SELECT about, part, day, sum(amount)::bigint AS cents, array_agg(line) AS lines,
        true AS is_of_bank
    FROM bank GROUP BY about, part, day
    UNION ALL
    SELECT about, part, NULL, sum(amount)::bigint, array_remove(array_agg(line), NULL), false
    FROM books GROUP BY about, part
), placed AS (
    SELECT *, row_number() OVER in_order AS place,
        count(*) OVER (PARTITION BY about, cents, is_of_bank) AS alike
    FROM grouped WINDOW in_order AS (PARTITION BY about, cents, is_of_bank ORDER BY part, day)
), paired AS (
    SELECT cents, min(day) AS day, any_value(lines) FILTER (WHERE is_of_bank) AS of_bank,
        any_value(lines) FILTER (WHERE NOT is_of_bank) AS of_books
    FROM placed GROUP BY about, cents, alike, place HAVING count(*) = 2
), pair AS MATERIALIZED (
    SELECT *, (%(ids)s::name[])[row_number() OVER ()]::text AS id FROM paired
), made AS (
    INSERT INTO reconciliation_match (
        id, rail_id, rule, day, amount, statement_lines, expected_lines, made_at, made_by, reason,
        voided_by, voided_why
    )
    SELECT id, %(rail)s, %(rule)s, day, cents, cardinality(of_bank), cardinality(of_books),
        %(now)s, '', '', '', ''
    FROM pair
), of_bank AS (
    INSERT INTO reconciliation_matchedline (line_id, match_id)
    SELECT unnest(of_bank), id FROM pair
), of_books AS (
    UPDATE reconciliation_expectedline AS tied SET match_id = chosen.id
    FROM (SELECT unnest(of_books) AS line, id FROM pair ORDER BY line) AS chosen
    WHERE tied.line = chosen.line
)
SELECT count(*) FROM pair
"""
_IN_ORDER = "lpad({}::text, 20, '0')"


def _bank(of: str, about: str, part: str = "''") -> str:
    return f"SELECT line, amount, day, {about} AS about, {part} AS part FROM {of}"  # noqa: S608


def _books(of: str, about: str, part: str = "''") -> str:
    return f"SELECT line, amount, {about} AS about, {part} AS part FROM {of}"  # noqa: S608


def _naming(column: str, which: str) -> str:
    """Lines of the bank that name one line of the books, or several of one name, each with its
    `name`: and nothing else of ours. Where they quote a file, it is in there, unless it is in
    none."""
    return f"""(
        SELECT line, amount, day, min(name) AS name FROM (
            SELECT line, said.amount, day, name, file FROM said JOIN (
                SELECT DISTINCT {column} AS name, file FROM expected WHERE {which}
            ) AS known USING (name)
            WHERE line NOT IN (SELECT line FROM of_two)
            UNION ALL
            SELECT line, amount, day, NULL, file FROM quoted
        ) AS found
        GROUP BY line, amount, day
        HAVING count(DISTINCT name) = 1 AND (
            count(*) FILTER (WHERE name IS NULL) = 0
            OR array_agg(file::text) FILTER (WHERE name IS NOT NULL)
                && array['', max(file::text) FILTER (WHERE name IS NULL)])
    ) AS naming"""  # noqa: S608  # our own text


# --- What names a file of ours, or a batch of one

_BATCH_QUOTED = Way(
    rule=Rule.FILE,
    bank=_bank("quoted WHERE batch IS NOT NULL", "batch::text"),
    books=_books("expected WHERE batch IS NOT NULL", "batch::text"),
)
# Of a batch that the bank shows on two days, it is what it shows on the day of the batch.
_BATCH_OF_DAY_QUOTED = Way(
    rule=Rule.FILE,
    bank=_bank("quoted WHERE batch IS NOT NULL", "batch || ' ' || day"),
    books=_books("due WHERE batch IS NOT NULL", "batch || ' ' || day"),
)
# Of a file whose batches settle on several days, what settles on the day of the statement; or all.
# What names a batch is of that one alone: posted twice, it would pass for another one of the file.
_FILE_OF_DAY_QUOTED = Way(
    rule=Rule.FILE,
    bank=_bank("quoted WHERE batch IS NULL", "file || ' ' || day"),
    books=_books("due WHERE file <> ''", "file || ' ' || day"),
)
_FILE_QUOTED = Way(
    rule=Rule.FILE,
    bank=_bank("quoted WHERE batch IS NULL", "file"),
    books=_books("expected WHERE file <> ''", "file"),
)
# Our own account's side of a balanced file: what the bank shows of it undoes itself.
_OFFSETS = Way(
    rule=Rule.FILE,
    bank=_bank("quoted WHERE batch IS NOT NULL", "batch::text"),
    books=_books(
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
        bank=_bank(
            "silent WHERE kind NOT IN ('fee', 'interest', 'return', 'reversal')",
            "day::text",
            _IN_ORDER.format("line"),
        ),
        books=_books("unnamed WHERE batch IS NOT NULL", "day::text", part),
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
    bank=_bank(
        _naming("trace", "batch IS NULL AND trace <> ''"),
        "name",
    ),
    books=_books("expected WHERE batch IS NULL AND trace <> ''", "trace"),
)


def _returns_of_day(which: str) -> Way:
    """All returns of the day that the bank does not name."""
    return Way(
        rule=Rule.RETURNS,
        bank=_bank("silent WHERE kind = 'return'", f"day || {which}"),
        books=_books("unnamed WHERE batch IS NULL", f"day || {which}"),
    )


_RETURN_TOTALS = (_returns_of_day("' ' || sign(amount)"), _returns_of_day("''"))

# --- What names one transfer: by the entry's trace number, or by what our files call it


def _transfer_named(column: str) -> Way:
    return Way(
        rule=Rule.END_TO_END,
        bank=_bank(
            _naming(column, f"{column} <> ''"),
            "name",
            _IN_ORDER.format("line"),
        ),
        books=_books(f"expected WHERE {column} <> ''", column, _IN_ORDER.format("line")),
    )


WAYS = (
    _BATCH_QUOTED,
    _BATCH_OF_DAY_QUOTED,
    _FILE_OF_DAY_QUOTED,
    _FILE_QUOTED,
    _OFFSETS,
    *_TOTALS,
    _RETURN_NAMED,
    *_RETURN_TOTALS,
    _transfer_named("trace"),
    _transfer_named("reference"),
)
