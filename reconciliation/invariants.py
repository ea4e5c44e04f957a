"""What must hold for bank statements: this app's part of the audit.

Every statement follows the one before it to the cent, its lines are those of the bank's file, and
no file lies forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from common import audits, crypto
from common.audits import Finding, Scope
from networks.ach.inbound import storing
from networks.bank_statements.items import Heading, Line
from networks.bank_statements.reading import read
from reconciliation import accounts, judging, taking
from reconciliation.models import BankStatement
from reconciliation.surveying import Tally

_COMPARED = 20  # statements of which the usual check decrypts and reads the files
_LINES_COMPARED = 20_000  # of them together, by the usual check
_COLUMNS = (
    *("position", "digest", "amount", "booked_on", "value_on", "kind", "type_code"),
    *("return_code", "is_reversal", "references"),
)

_RECENT = "(%(full)s OR statement.taken_at > %(since)s)"
_CHAIN = f"""
SELECT '', statement.id, CASE
    WHEN statement.follows_id IS DISTINCT FROM before.id
        THEN 'does not follow the statement before it'
    ELSE 'begins with ' || statement.opening || ' cents where the one before ended with '
        || coalesce(before.closing, account.opening) END
FROM reconciliation_bankstatement AS statement
JOIN reconciliation_settlementaccount AS account ON account.id = statement.account_id
LEFT JOIN LATERAL (
    SELECT id, closing FROM reconciliation_bankstatement
    WHERE account_id = statement.account_id AND last_day < statement.last_day
    ORDER BY last_day DESC LIMIT 1
) AS before ON true
WHERE {_RECENT} AND (statement.follows_id IS DISTINCT FROM before.id
    OR statement.opening <> coalesce(before.closing, account.opening))
UNION ALL
SELECT '', file.id, 'was applied, and no statement of it was taken'
FROM ach_infile AS file
WHERE (%(full)s OR file.applied_at > %(since)s)
    AND file.folder = 'statements' AND file.status = 'applied'
    AND NOT EXISTS (SELECT FROM reconciliation_bankstatement WHERE file_id = file.id)
    AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(file.faults) AS fault
        WHERE fault ->> 'code' = ANY(%(left)s))
UNION ALL
SELECT '', file.id, 'is ' || file.status || ', and a statement of it was taken'
FROM reconciliation_bankstatement AS statement JOIN ach_infile AS file ON file.id = file_id
WHERE {_RECENT} AND file.status <> 'applied'
"""  # noqa: S608  # our own text
_SUMS = f"""
SELECT '', statement.id, 'its lines do not come to what it says'
FROM reconciliation_bankstatement AS statement CROSS JOIN LATERAL (
    SELECT count(*) AS lines, coalesce(sum(amount) FILTER (WHERE amount > 0), 0) AS credits,
        coalesce(-sum(amount) FILTER (WHERE amount < 0), 0) AS debits,
        encode(sha256(coalesce(string_agg(decode(digest, 'hex'), '' ORDER BY position), '')), 'hex')
            AS digest
    FROM reconciliation_statementline WHERE statement_id = statement.id
) AS found
WHERE {_RECENT} AND (
    statement.closing <> statement.opening + statement.credits - statement.debits
    OR (line_count, statement.credits, statement.debits, lines_digest)
        IS DISTINCT FROM (lines, found.credits, found.debits, digest))
"""  # noqa: S608  # our own text
# A statement of a rail that has an account is due until it is taken or set aside.
_FORGOTTEN = """
SELECT '', file.id, 'a bank statement that nobody reads'
FROM ach_infile AS file
WHERE file.folder = 'statements' AND file.status = 'stored' AND file.next_attempt_at IS NULL
    AND EXISTS (
        SELECT FROM reconciliation_settlementaccount AS account
        WHERE account.rail_id = file.rail_id AND account.status = 'current')
"""
# What somebody uploaded is taken at the word of another person, or of an operator's command.
_ALONE = f"""
SELECT '', file.id, 'was uploaded, and taken without a second person'
FROM ach_infile AS file
WHERE file.folder = 'statements' AND file.uploaded_by <> '' AND NOT file.by_command
    AND EXISTS (
        SELECT FROM reconciliation_bankstatement AS statement
        WHERE statement.file_id = file.id AND {_RECENT})
    AND NOT EXISTS (
        SELECT FROM ach_achproposal
        WHERE subject = file.id AND kind = 'take' AND status = 'approved'
            AND proposed_by = file.uploaded_by AND decided_by <> file.uploaded_by)
"""  # noqa: S608  # our own text
_WAITS_FOR_NOBODY = """
SELECT '', file.id, 'an uploaded bank statement that nobody is asked about'
FROM ach_infile AS file
WHERE file.status = 'waiting' AND NOT EXISTS (
    SELECT FROM ach_achproposal
    WHERE subject = file.id AND kind = 'take' AND status = 'proposed')
"""
_NEWEST = f"""
SELECT id FROM reconciliation_bankstatement AS statement
WHERE {_RECENT} ORDER BY taken_at DESC, id DESC LIMIT %(most)s
"""  # noqa: S608  # our own text


def check(scope: Scope) -> Iterator[Finding]:
    """Check the chain of every account, sums, that lines are those of the bank's bytes, that every
    file is read, and that no person alone had one taken."""
    values = {**scope.values, "left": list(judging.LEFT)}
    yield from audits.found("statement_chain", _CHAIN, values)
    yield from audits.found("statement_sums", _SUMS, values)
    yield from audits.found("statement_forgotten", _FORGOTTEN, values)
    yield from audits.found("statement_forgotten", _WAITS_FOR_NOBODY, values)
    yield from audits.found("statement_alone", _ALONE, values)
    yield from check_bytes(scope)


def check_bytes(scope: Scope, *, lines_max: int = _LINES_COMPARED) -> Iterator[Finding]:
    """Compare statements with the bytes that the bank sent: all of them in the full check, one
    after the other; the newest in the usual one, without those after which it would have read more
    than `lines_max` lines."""
    rows = _all() if scope.full else _newest(scope, lines_max)
    for row in rows:
        if problem := _problem(row):
            yield Finding(code="statement_bytes", tenant_id="", subject=row.pk, message=problem)


def _all() -> Iterator[BankStatement]:
    """Some rows at a time: there are as many as days since the account began."""
    rows = BankStatement.objects.select_related("file", "account")
    return rows.order_by("pk").iterator(chunk_size=_COMPARED)


def _newest(scope: Scope, lines_max: int) -> Iterator[BankStatement]:
    ids = audits.ids(_NEWEST, {**scope.values, "most": _COMPARED})
    rows = BankStatement.objects.filter(pk__in=ids).select_related("file", "account")
    read_lines = 0
    for row in rows.order_by("-taken_at", "-pk"):
        if read_lines + row.line_count <= lines_max:
            read_lines += row.line_count
            yield row


def _problem(row: BankStatement) -> str:
    """What differs between a statement and the bytes that the bank sent."""
    said = _Said(row)
    kept = row.lines.order_by("position").values_list(*_COLUMNS).iterator()
    try:
        for of_bank, ours in zip_longest(said.lines(), kept):
            if of_bank != ours:
                place = (ours or of_bank)[0]
                return f"its line {place} is not what the bank sent"
    except crypto.Undecryptable:
        return "a piece of its file does not open"
    return "" if said.is_the_same() else "its account, days or balances are not what the bank sent"


class _Said:
    """What the file of a statement says of it."""

    def __init__(self, row: BankStatement) -> None:
        self._row = row
        self._sums: Tally | None = None

    def lines(self) -> Iterator[tuple[object, ...]]:
        """Its lines as `_COLUMNS` keep them. Raises common.crypto.Undecryptable."""
        for event in read(storing.Reader(self._row.file)):
            if isinstance(event, Heading) and event.number == self._row.number:
                self._sums = Tally(event)
            elif isinstance(event, Line) and self._sums and event.statement == self._row.number:
                self._sums.add(event)
                yield _columns(event)

    def is_the_same(self) -> bool:
        """Whether account, days, balances and lines are those of the row, once all are read."""
        if self._sums is None:
            return False
        number = self._sums.heading.account.number
        is_ours = self._row.account.fingerprint in accounts.fingerprints(number)
        return is_ours and taking.said_by(self._sums) == taking.known(self._row)


def _columns(line: Line) -> tuple[object, ...]:
    return (
        line.position,
        line.id,
        line.amount,
        line.booked_date,
        line.value_date,
        line.kind.value,
        line.type_code,
        line.return_code,
        line.is_reversal,
        taking.references(line),
    )
