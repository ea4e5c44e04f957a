"""Finds rows dated ahead of the database's time. No process of ours writes one, and no round seals
it.

Somebody who writes one wants it to be read as the last word, or to stay unsealed for long.
"""

from __future__ import annotations

from collections.abc import Iterator

from common import audits, sealed
from common.audits import Finding, Scope
from common.database_clock import AHEAD
from common.sealed import DatedRows

FINDINGS_MAX = 100


def check(scope: Scope) -> Iterator[Finding]:
    """Find such rows, the first hundred of each kind. Each table has an index on the date.

    Only rows of the audit log are named: a process whose clock runs ahead dates other rows so, too,
    and that clock is a finding of its own.
    """
    for kind in (sealed.dated()["audit"],):
        yield from audits.found("row_ahead", statement(kind), scope.values)


def statement(kind: DatedRows) -> str:
    """The query for the rows of a kind that are dated ahead."""
    return f"""
        SELECT {kind.tenant}, line.{kind.key}::text, 'of {kind.label}: is dated ' || line.{kind.at}
        FROM {kind.table} AS line {kind.join}
        WHERE line.{kind.at} > ballast_now() + {AHEAD}
            AND (%(tenant_ids)s::text[] IS NULL OR {kind.tenant} = ANY (%(tenant_ids)s))
        ORDER BY line.{kind.at} LIMIT {FINDINGS_MAX}
    """  # noqa: S608  # our own text
