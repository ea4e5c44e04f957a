"""Which lines of statements are free, and what they name of ours: parts of SQL.

Each part is one or more table expressions of a statement that begins with `WITH`. A statement may
take all of them, since PostgreSQL does not run what nothing asks for. Values: `rail`.
"""

from __future__ import annotations

from django.db import connection

from networks.ach import references

# How long after it was made a bank may quote a file.
_DAYS_QUOTED = 60

# Statements of days that are open. `after` is the last day that belongs to the one before.
_STATEMENTS = """
statement AS MATERIALIZED (
    SELECT statement.id, statement.last_day AS day,
        coalesce(before.last_day, account.opened_on - 1) AS after
    FROM reconciliation_bankstatement AS statement
    JOIN reconciliation_settlementaccount AS account ON account.id = statement.account_id
    LEFT JOIN reconciliation_bankstatement AS before ON before.id = statement.follows_id
    WHERE account.rail_id = %(rail)s AND NOT EXISTS (
        SELECT FROM reconciliation_closedday AS closed WHERE closed.statement_id = statement.id)
)"""
# A line that a person set free has a row: from then on people decide about it. So has one that
# looks like another one again (`repeats`). A line of nothing explains nothing.
_FREE = """
free AS MATERIALIZED (
    SELECT line.id AS line, line.amount, line.kind, line."references", statement.day
    FROM statement JOIN reconciliation_statementline AS line ON line.statement_id = statement.id
    WHERE line.amount <> 0 AND NOT EXISTS (
        SELECT FROM reconciliation_matchedline AS matched WHERE matched.line_id = line.id)
)"""
# Fees and interest are the bank's own, whatever they name.
_SAID = """
said AS MATERIALIZED (
    SELECT DISTINCT line, amount, day, reference.value AS name
    FROM free CROSS JOIN LATERAL jsonb_each_text(free."references") AS reference
    WHERE kind NOT IN ('fee', 'interest')
)"""
# Our files and batches by what a bank may call them.
_FILES = f"""
file AS MATERIALIZED (
    SELECT id, file_date, file_time, modifier, remote_name FROM ach_outfile
    WHERE rail_id = %(rail)s
        AND file_date > (SELECT min(after) - {_DAYS_QUOTED} FROM statement)
), called AS MATERIALIZED (
    SELECT file.id AS file, NULL::bigint AS batch, {references.FILE} AS name FROM file
    UNION
    SELECT file.id, NULL, remote_name FROM file WHERE remote_name <> ''
    UNION
    SELECT file.id, batch.id, {references.BATCH}
    FROM file JOIN ach_achbatch AS batch ON batch.file_id = file.id
)"""  # noqa: S608  # our own text
# Lines that name one file of ours, with its batch if they name one.
_QUOTED = """
quoted AS MATERIALIZED (
    SELECT line, amount, day, min(file) AS file, min(batch) AS batch
    FROM said JOIN called USING (name)
    GROUP BY line, amount, day HAVING count(DISTINCT file) = 1 AND count(DISTINCT batch) <= 1
)"""
# Lines that name anything of ours, also what the books do not expect yet. A credit that nobody
# asked for is none of ours, although a file of the bank may tell of it too: the books never learn
# of it.
_OURS = """
ours AS MATERIALIZED (
    SELECT line FROM said JOIN called USING (name)
    UNION
    SELECT line FROM said WHERE name ~ '^[0-9]{15}$' AND (
        EXISTS (SELECT FROM ach_achentry AS entry
            WHERE entry.trace_number = said.name AND entry.rail_id = %(rail)s)
        OR EXISTS (SELECT FROM ach_inrecord AS record
            WHERE record.rdfi_trace = said.name AND record.rail_id = %(rail)s
                AND record.kind <> 'received')
        OR EXISTS (SELECT FROM ach_achreply AS reply
            WHERE reply.trace_number = said.name AND reply.rail_id = %(rail)s))
    UNION
    SELECT line FROM said WHERE CASE WHEN name ~ '^ACH[0-9]{12}$' THEN
        EXISTS (SELECT FROM ach_achentry AS entry
            WHERE entry.id = substr(said.name, 4)::bigint AND entry.rail_id = %(rail)s) END
    UNION
    SELECT line FROM said WHERE EXISTS (
        SELECT FROM instant_conversation AS known
        WHERE known.end_to_end_id = said.name AND known.rail_id = %(rail)s
            AND (known.kind <> 'credit' OR known.original_id IS NOT NULL AND known.mismatch = ''))
    UNION
    SELECT line FROM said JOIN instant_positionmove AS move ON move.id = said.name
        AND move.rail_id = %(rail)s AND move.status <> 'rejected'
), silent AS MATERIALIZED (
    SELECT * FROM free WHERE NOT EXISTS (SELECT FROM ours WHERE ours.line = free.line)
)"""

# Lines that name two entries of ours, or what came back of two: also where only one of them is
# open, since a line that names what is matched already explains nothing else. An entry that was
# tried again has the reference of the first one, and a trace of its own.
_OF_TWO = """
several AS MATERIALIZED (
    SELECT line, name FROM (
        SELECT line, name, count(*) OVER (PARTITION BY line) AS names
        FROM said WHERE name ~ '^([0-9]{15}|ACH[0-9]{12})$'
    ) AS counted WHERE names > 1
), entry_named AS MATERIALIZED (
    SELECT several.line, several.name, coalesce(entry.first_number, entry.id) AS number
    FROM several JOIN ach_achentry AS entry
        ON entry.trace_number = several.name AND entry.rail_id = %(rail)s
    UNION
    SELECT several.line, several.name, coalesce(entry.first_number, entry.id, -record.id)
    FROM several JOIN ach_inrecord AS record ON record.rdfi_trace = several.name
        AND record.rail_id = %(rail)s AND record.kind <> 'received'
    LEFT JOIN ach_achentry AS entry ON entry.id = record.entry_id
    UNION
    SELECT several.line, several.name, entry.id
    FROM several JOIN ach_achentry AS entry ON entry.rail_id = %(rail)s
        AND entry.id = CASE WHEN several.name LIKE 'ACH%%' THEN substr(several.name, 4)::bigint END
), of_two AS MATERIALIZED (
    SELECT line FROM (
        SELECT line, count(DISTINCT name) AS names FROM entry_named GROUP BY line
        UNION ALL
        SELECT line, -max(alike)
        FROM (SELECT line, count(*) AS alike FROM entry_named GROUP BY line, number) AS together
        GROUP BY line
    ) AS balanced GROUP BY line HAVING sum(names) > 0
)"""

LINES_OF_BANK = ",".join((_STATEMENTS, _FREE, _SAID, _FILES, _QUOTED, _OURS, _OF_TWO))
# What the books expect and no statement shows yet; the day of the open statement on which it should
# stand; and what of that no free line of the bank names, so that it may be in a total that names
# nothing. Days without such a total are left out first: most banks quote what they post. A return
# has the reference of its transfer, which a line of the other sign names.
LINES_OF_BOOKS = """
expected AS (
    SELECT line, amount, counts_on, batch, file, trace, reference
    FROM reconciliation_expectedline WHERE rail_id = %(rail)s AND match_id IS NULL
), due AS (
    SELECT expected.*, statement.day FROM expected
    JOIN statement ON counts_on > statement.after AND counts_on <= statement.day
), unnamed AS (
    SELECT * FROM due
    WHERE day IN (SELECT DISTINCT day FROM silent)
        AND NOT EXISTS (SELECT FROM said WHERE said.name = due.trace)
        AND NOT EXISTS (
            SELECT FROM said
            WHERE said.name = due.reference AND sign(said.amount) = sign(due.amount))
        AND NOT EXISTS (SELECT FROM quoted WHERE quoted.batch = due.batch)
        AND NOT EXISTS (
            SELECT FROM quoted WHERE quoted.batch IS NULL AND quoted.file = due.file)
)"""

_SILENT = f"WITH {LINES_OF_BANK} SELECT line FROM silent"  # noqa: S608  # our own text


def silent_lines(rail: str) -> list[int]:
    """The ids of lines of open statements that no rule has matched, that no person set free, and
    that name nothing of ours: neither a file or batch, nor an entry or a return."""
    with connection.cursor() as cursor:
        cursor.execute(_SILENT, {"rail": rail})
        return [line for (line,) in cursor.fetchall()]
