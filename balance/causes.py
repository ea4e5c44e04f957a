"""Finds ledger lines that nothing explains. Each line names a kind of source and one row of it.

If nobody registered the kind, or the row does not exist, the line is money out of nothing. So it is
if the operator's lines of that source do not say where the money is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.sql import SQL, Identifier

from balance.operator import checks as books
from common import audits
from common.audits import Finding

# A bound on what the audit keeps in memory, whatever a forged ledger contains.
FINDINGS_MAX = 1_000

# The lines of these tenants that the usual check has not seen yet, or all of their lines.
_LINES = """
FROM unnest(%(tenant_ids)s::text[]) AS tenant (id)
LEFT JOIN balance_checkpoint AS proven ON proven.tenant_id = tenant.id AND NOT %(full)s
CROSS JOIN LATERAL (
    SELECT tenant_id, sequence, source_type, source_id FROM balance_transaction AS line
    WHERE line.tenant_id = tenant.id AND line.sequence > coalesce(proven.sequence, 0)
) AS posted
"""

UNKNOWN = SQL(
    "SELECT posted.tenant_id, 'row ' || posted.sequence,"
    " 'has a source of no known kind: ' || source_type"
    + _LINES
    + "WHERE source_type <> ALL(%(known)s) LIMIT %(most)s"
)

UNEXPLAINED = SQL(
    "SELECT posted.tenant_id, posted.source_id, 'posting of unknown ' || posted.source_type"  # noqa: S608  # our own text
    " || ' at row ' || posted.sequence"
    + _LINES
    + """
WHERE posted.source_type = %(source_type)s AND NOT EXISTS (
    SELECT FROM {table} AS cause
    WHERE cause.id = posted.source_id AND cause.tenant_id = posted.tenant_id
) LIMIT %(most)s
"""
)


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A kind of source: its rows are in `table`; `code` is the finding where one is missing."""

    source_type: str
    table: str
    code: str


_causes: dict[str, Cause] = {}


def register(cause: Cause) -> None:
    """Allow lines to name rows of this kind."""
    _causes[cause.source_type] = cause


def check(tenant_ids: Sequence[str], *, full: bool) -> Iterator[Finding]:
    """Find lines of these tenants that nothing explains: among all of them, or those above the
    checkpoint.

    Runs in the snapshot in which the chains are proven, so what is proven was explained.
    """
    values: dict[str, Any] = {
        "tenant_ids": list(tenant_ids),
        "full": full,
        "most": FINDINGS_MAX,
        "known": list(_causes),
    }
    yield from audits.found("ledger_source", UNKNOWN.as_string(), values)
    for cause in _causes.values():
        statement = UNEXPLAINED.format(table=Identifier(cause.table)).as_string()
        yield from audits.found(cause.code, statement, values | {"source_type": cause.source_type})
    yield from books.clearing(tenant_ids, full=full)
