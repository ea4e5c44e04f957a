"""The rules of the audit about the operator's lines.

A source is whatever a line names: a funding, a payment, an adjustment. Whether the steps of one fit
its status is the business of the app that owns it (`transfers.checks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from psycopg.sql import SQL, Composable, Identifier

from balance.kinds import MOVES, Account
from balance.operator.accounts import OperatorAccount, clearing_sql
from balance.operator.totals import totals
from common import audits
from common.audits import Finding, Scope

FINDINGS_MAX = 1_000
LINES_PER_STATEMENT = 5_000

# How a tenant's line changes bank clearing: a credit debits it.
_TENANTS_SIGN = "CASE posted.type {} ELSE 0 END".format(
    " ".join(
        f"WHEN '{kind}' THEN {-move.sign(Account.BANK_CLEARING)}" for kind, move in MOVES.items()
    )
)

# Bank clearing over the tenant's lines and the operator's, of each of these sources.
_CLEARING = f"""
SELECT source.tenant_id, source.source_id,
    'bank clearing is ' || cents.of_tenant + cents.of_operator || ' over the lines of the tenant ('
    || cents.of_tenant || ') and of the operator (' || cents.of_operator || ')'
FROM source CROSS JOIN LATERAL (
    SELECT
        (SELECT coalesce(sum(amount * {_TENANTS_SIGN}), 0) FROM balance_transaction AS posted
        WHERE posted.source_id = source.source_id AND posted.tenant_id = source.tenant_id
            AND posted.source_type = source.source_type) AS of_tenant,
        (SELECT coalesce(sum(amount * {clearing_sql("line.step")}), 0)
        FROM balance_operator_line AS line
        WHERE line.source_id = source.source_id AND line.source_type = source.source_type
            AND line.tenant_id = source.tenant_id) AS of_operator
) AS cents
WHERE cents.of_tenant + cents.of_operator <> 0
LIMIT %(most)s
"""  # noqa: S608  # our own text

# The sources of a tenant's lines that the usual check has not seen yet, or of all of them.
_OF_TENANTS = f"""
WITH source AS MATERIALIZED (
    SELECT DISTINCT posted.tenant_id, posted.source_type, posted.source_id
    FROM unnest(%(tenant_ids)s::text[]) AS tenant (id)
    LEFT JOIN balance_checkpoint AS proven ON proven.tenant_id = tenant.id AND NOT %(full)s
    CROSS JOIN LATERAL (
        SELECT tenant_id, source_type, source_id FROM balance_transaction AS line
        WHERE line.tenant_id = tenant.id AND line.sequence > coalesce(proven.sequence, 0)
    ) AS posted
) {_CLEARING}
"""  # noqa: S608

_FIRST = "SELECT min(id) FROM balance_operator_line"
# By the index of dates: PostgreSQL would look for the smallest number from the first line on.
_FIRST_NEW = "SELECT min(id + 0) FROM balance_operator_line WHERE created_at > %(since)s"
_END = """
SELECT max(id) FROM (
    SELECT id FROM balance_operator_line WHERE id >= %(first)s ORDER BY id LIMIT %(limit)s
) AS page
"""
_PAGE = """
line.id BETWEEN %(first)s AND %(last)s
    AND (%(tenant_ids)s::text[] IS NULL OR line.tenant_id = ANY(%(tenant_ids)s))
"""
_OF_LINES = f"""
WITH source AS MATERIALIZED (
    SELECT DISTINCT tenant_id, source_type, source_id FROM balance_operator_line AS line
    WHERE {_PAGE} AND tenant_id IS NOT NULL
) {_CLEARING}
"""  # noqa: S608
_UNKNOWN = f"""
SELECT line.tenant_id, line.source_id, 'has a source of no known kind: ' || line.source_type
FROM balance_operator_line AS line
WHERE {_PAGE} AND line.source_type <> ALL(%(known)s) LIMIT %(most)s
"""  # noqa: S608
_UNEXPLAINED = SQL(
    f"""
SELECT line.tenant_id, line.source_id, line.step || ' of a source that does not exist'
FROM balance_operator_line AS line
WHERE {_PAGE} AND line.source_type = %(source_type)s AND NOT EXISTS (
    SELECT FROM {{table}} AS cause
    WHERE cause.id = line.source_id AND {{tenant}} IS NOT DISTINCT FROM line.tenant_id
) LIMIT %(most)s
"""  # noqa: S608
)
_DAYS = """
SELECT '', coalesce(day.booked_on, line.booked_on)::text,
    'the stored totals of ' || coalesce(day.step, line.step) || ' are not those of the lines'
FROM balance_operator_day AS day
FULL JOIN (
    SELECT (created_at AT TIME ZONE 'America/New_York')::date AS booked_on, rail, step,
        count(*) AS lines, sum(amount) AS amount
    FROM balance_operator_line
    WHERE created_at < (SELECT (max(booked_on) + 1)::timestamp AT TIME ZONE 'America/New_York'
        FROM balance_operator_day)
    GROUP BY 1, 2, 3
) AS line USING (booked_on, rail, step)
WHERE (day.lines, day.amount) IS DISTINCT FROM (line.lines, line.amount)
LIMIT %(most)s
"""


class _Source(NamedTuple):
    """Rows that lines may name, and the SQL for their tenant."""

    table: Identifier
    tenant: Composable


_sources: dict[str, _Source] = {}


def register_source(source_type: str, table: str, *, has_tenant: bool = True) -> None:
    """Allow lines to name rows of this table: with the tenant that a row has, or with none."""
    tenant = Identifier("cause", "tenant_id") if has_tenant else SQL("NULL::text")
    _sources[source_type] = _Source(Identifier(table), tenant)


def clearing(tenant_ids: Sequence[str], *, full: bool) -> Iterator[Finding]:
    """Find sources of these tenants' lines over which bank clearing is not zero: of all lines, or
    of those above the checkpoint. Runs in the snapshot in which the chains are proven."""
    values = {"tenant_ids": list(tenant_ids), "full": full, "most": FINDINGS_MAX}
    yield from audits.found("books_clearing", _OF_TENANTS, values)


def check_lines(scope: Scope) -> Iterator[Finding]:
    """Judge the operator's lines that are new, or all of them: whether their sources exist, and
    whether bank clearing comes to zero over each. Some thousand lines to a statement."""
    ((first,),) = audits.rows(_FIRST if scope.full else _FIRST_NEW, scope.values)
    while first is not None:
        page = {"first": first, "limit": LINES_PER_STATEMENT}
        ((last,),) = audits.rows(_END, page)
        if last is None:
            return
        yield from _judge(scope.values | {"first": first, "last": last})
        first = last + 1


def _judge(page: dict[str, Any]) -> Iterator[Finding]:
    values = page | {"most": FINDINGS_MAX, "known": list(_sources)}
    yield from audits.found("books_clearing", _OF_LINES, values)
    yield from audits.found("books_source", _UNKNOWN, values)
    for source_type, source in _sources.items():
        statement = _UNEXPLAINED.format(**source._asdict()).as_string()
        yield from audits.found("books_source", statement, values | {"source_type": source_type})


def check_days(scope: Scope) -> Iterator[Finding]:
    """Find stored totals that are not those of their day's lines. Reads every line, so only the
    full check of all tenants looks."""
    if scope.full and scope.tenant_ids is None:
        yield from audits.found("books_day", _DAYS, {"most": FINDINGS_MAX})


def check_accounts(scope: Scope) -> Iterator[Finding]:
    """Find accounts of what is in transit that are below zero: more came to its end there than ever
    settled."""
    if scope.tenant_ids is not None:
        return
    for total in totals():
        cents = _in_transit(total.account, total.debit, total.credit)
        if cents < 0:
            yield Finding(
                code="books_negative",
                tenant_id="",
                subject=f"{total.account} of {total.rail}",
                message=f"holds {cents} cents, less than nothing",
            )


def _in_transit(account: OperatorAccount, debit: int, credit: int) -> int:
    """What is in transit there; zero where anything may be."""
    if account is OperatorAccount.DEBITS_IN_TRANSIT:
        return credit - debit
    return debit - credit if account is OperatorAccount.CREDITS_IN_TRANSIT else 0
