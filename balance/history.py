"""The balance at moments of the past: one indexed search per moment, however long the statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from common.money import CURRENCY

# Times never go back along the numbers, so a binary search over the numbers finds each moment. One
# statement. With `LIMIT 1` a step looks its one line up by the index; without it PostgreSQL would
# join the steps with all lines of a small ledger.
_CLOSINGS = """
SELECT
    asked.position,
    coalesce(last.sequence, 0) AS sequence,
    coalesce(line.available_after, 0) AS available,
    coalesce(line.locked_after, 0) AS locked
FROM unnest(%(moments)s::timestamptz[]) WITH ORDINALITY AS asked (at, position)
LEFT JOIN LATERAL (
    WITH RECURSIVE search (low, high) AS (
        SELECT 1::bigint, sequence + 1
        FROM balance
        WHERE tenant_id = %(tenant_id)s AND currency = %(currency)s
        UNION ALL
        SELECT
            CASE WHEN middle.is_early THEN middle.sequence + 1 ELSE search.low END,
            CASE WHEN middle.is_early THEN search.high ELSE middle.sequence END
        FROM search
        CROSS JOIN LATERAL (
            SELECT sequence, created_at < asked.at AS is_early
            FROM balance_transaction
            WHERE tenant_id = %(tenant_id)s AND sequence = (search.low + search.high) / 2
            LIMIT 1
        ) AS middle
        WHERE search.low < search.high
    )
    SELECT low - 1 AS sequence FROM search ORDER BY high - low LIMIT 1
) AS last ON true
LEFT JOIN balance_transaction AS line
    ON line.tenant_id = %(tenant_id)s AND line.sequence = last.sequence
"""
CLOSINGS = f"""
SELECT sequence, available, locked FROM ({_CLOSINGS}) AS found ORDER BY position
"""  # noqa: S608  # our own text

# Beside each closing what was added since the one before it, and not by payments that came back.
COURSE = f"""
WITH found AS MATERIALIZED ({_CLOSINGS}),
spans AS (SELECT *, lag(sequence) OVER (ORDER BY position) AS before FROM found)
SELECT sequence, available, locked, (
    SELECT coalesce(sum(line.available_delta), 0)::bigint
    FROM balance_transaction AS line
    WHERE line.tenant_id = %(tenant_id)s
        AND line.type IN ('credit', 'debit')
        AND line.sequence > spans.before AND line.sequence <= spans.sequence
        AND line.source_type <> %(spending)s
)
FROM spans ORDER BY position
"""  # noqa: S608  # our own text

# There are few credits and debits among locks and settlements, and they have an index of their own.
BROUGHT_IN = """
SELECT width_bucket(created_at, %(moments)s::timestamptz[]) AS bucket, sum(available_delta)::bigint
FROM balance_transaction
WHERE tenant_id = %(tenant_id)s
    AND type IN ('credit', 'debit')
    AND sequence > %(after)s
    AND source_type = %(source_type)s
GROUP BY bucket
"""


@dataclass(frozen=True)
class Closing:
    """What was available and locked at a moment, in cents, and the number of the last line before
    it."""

    sequence: int = 0
    available: int = 0
    locked: int = 0


def closings(*, tenant_id: str, moments: Sequence[datetime]) -> list[Closing]:
    """The balance just before each of `moments`; zero before the first line. One query."""
    values: dict[str, Any] = {
        "tenant_id": tenant_id,
        "currency": CURRENCY,
        "moments": list(moments),
    }
    with connection.cursor() as cursor:
        cursor.execute(CLOSINGS, values)
        return [Closing(*row) for row in cursor.fetchall()]


@dataclass(frozen=True)
class Stretch(Closing):
    """A closing; `added` is what came in since the one before it, in cents, less what was taken
    back, and without what the spending itself brought back."""

    added: int = 0


def course(*, tenant_id: str, moments: Sequence[datetime], spending: str) -> list[Stretch]:
    """`closings` with what was `added` before each; nothing before the first. `spending` is the
    kind of source that takes money out and may bring it back. One query."""
    values: dict[str, Any] = {
        "tenant_id": tenant_id,
        "currency": CURRENCY,
        "moments": list(moments),
        "spending": spending,
    }
    with connection.cursor() as cursor:
        cursor.execute(COURSE, values)
        return [Stretch(*row) for row in cursor.fetchall()]


def brought_in(
    *, tenant_id: str, source_type: str, after: int, moments: Sequence[datetime]
) -> list[int]:
    """Cents that sources of one kind added, less what they took back, between each two `moments`.

    `after` is the number of the last line before the first moment. One query.
    """
    values: dict[str, Any] = {
        "tenant_id": tenant_id,
        "source_type": source_type,
        "after": after,
        "moments": list(moments),
    }
    with connection.cursor() as cursor:
        cursor.execute(BROUGHT_IN, values)
        found = dict(cursor.fetchall())
    return [found.get(bucket, 0) for bucket in range(1, len(moments))]
