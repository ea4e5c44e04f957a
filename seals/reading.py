"""Reads rows as digests: how many rows of a tenant are in a window, and SHA-256 over all of them.

PostgreSQL computes it in the order of the rows' ids, so a digest depends on nothing but the rows.
Making a seal and proving it run the same query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db import connection

from common.clock import text_of
from common.sealed import DatedRows, NumberedRows
from seals.windows import Window

_DIGEST = """
    encode(sha256(string_agg(
        sha256(convert_to(line.text, 'UTF8')), ''::bytea ORDER BY line.id COLLATE "C"
    )), 'hex')
"""
_BEGINNING = "-infinity"
_BEFORE_THE_FIRST = -(2**63)


class Found(NamedTuple):
    """The rows of one tenant (empty: of none) in the window at `place`."""

    chain: str
    place: int
    rows: int
    digest: str


class Lines(NamedTuple):
    """The lines of one tenant's ledger after number `after`; `last` is the last one there."""

    chain: str
    after: int
    last: int
    rows: int
    digest: str


class Range(NamedTuple):
    """Lines of one tenant: numbers above `after`, up to `upto`. After 0: whatever comes before."""

    chain: str
    after: int
    upto: int


def dated(
    kind: DatedRows, windows: Sequence[Window], *, tenant_ids: Sequence[str] | None = None
) -> list[Found]:
    """The rows in each of these windows, which follow each other and have one layout."""
    sinces = [text_of(window.since) if window.since else _BEGINNING for window in windows]
    statement = f"""
        SELECT line.chain, line.place - 1, count(*), {_DIGEST}
        FROM (
            SELECT coalesce({kind.tenant}, '') AS chain, line.{kind.key}::text AS id,
                width_bucket(line.{kind.at}, %(sinces)s::text[]::timestamptz[]) AS place,
                {kind.text(windows[0].layout)} AS text
            FROM {kind.table} AS line {kind.join}
            WHERE line.{kind.at} >= %(since)s::text::timestamptz
                AND line.{kind.at} < %(until)s::text::timestamptz
                AND (%(tenant_ids)s::text[] IS NULL OR {kind.tenant} = ANY (%(tenant_ids)s))
        ) AS line
        GROUP BY line.chain, line.place
    """  # noqa: S608  # our own text
    values: dict[str, Any] = {
        "sinces": sinces,
        "since": sinces[0],
        "until": text_of(windows[-1].until),
        "tenant_ids": None if tenant_ids is None else list(tenant_ids),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [Found(*row) for row in cursor.fetchall()]


def named(
    kind: DatedRows, window: Window, *, chain: str | None = None
) -> Iterator[tuple[str, str, str]]:
    """Chain, id and digest of each row in a window, by id; of one tenant, or of all (None)."""
    statement = f"""
        SELECT coalesce({kind.tenant}, ''), line.{kind.key}::text,
            encode(sha256(convert_to({kind.text(window.layout)}, 'UTF8')), 'hex')
        FROM {kind.table} AS line {kind.join}
        WHERE line.{kind.at} >= %(since)s::text::timestamptz
            AND line.{kind.at} < %(until)s::text::timestamptz
            AND (%(chain)s::text IS NULL OR coalesce({kind.tenant}, '') = %(chain)s)
        ORDER BY line.{kind.key}::text COLLATE "C"
    """  # noqa: S608  # our own text
    values = {
        "since": text_of(window.since) if window.since else _BEGINNING,
        "until": text_of(window.until),
        "chain": chain,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        yield from cursor.fetchall()


def lines(kind: NumberedRows, ranges: Sequence[Range], *, layout: int) -> list[Lines]:
    """The ledger's lines in each of these ranges, where there are any."""
    statement = f"""
        SELECT asked.chain, asked.after, found.last, found.rows, found.digest
        FROM unnest(%(chains)s::text[], %(afters)s::bigint[], %(lowest)s::bigint[], %(uptos)s::bigint[])
            AS asked (chain, after, lowest, upto)
        CROSS JOIN LATERAL (
            SELECT max(line.sequence) AS last, count(*) AS rows, {_DIGEST} AS digest
            FROM (
                SELECT line.sequence, line.id, {kind.text(layout)} AS text
                FROM {kind.table} AS line
                WHERE line.tenant_id = asked.chain AND line.sequence > asked.lowest
                    AND line.sequence <= asked.upto
            ) AS line
        ) AS found
        WHERE found.rows > 0
    """  # noqa: S608, E501  # our own text
    values: dict[str, Any] = {
        "chains": [each.chain for each in ranges],
        "afters": [each.after for each in ranges],
        "lowest": [each.after or _BEFORE_THE_FIRST for each in ranges],
        "uptos": [each.upto for each in ranges],
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [Lines(*row) for row in cursor.fetchall()]
