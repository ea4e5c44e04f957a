"""What must hold between a kind of movement (funding, payments), the ledger and the outbox.

Each rule is one SQL statement that returns what breaks it. The full audit looks at everything, the
incremental one at what moved during the last day (`check_ledger` runs every 15 minutes). The tables
are named by the app that owns the movements, so this module imports none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import LiteralString

from django.db import connection
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from balance.findings import Finding, Scope
from common.state import StateTable

# The balance's sum of what is on its way is the sum of what is on its way. The statuses are part
# of the text: a generic plan cannot know that a parameter fits the partial index.
TOTAL = SQL("""
SELECT coalesce(balance.tenant_id, movement.tenant_id), 'balance',
    {total_name} || ' is ' || coalesce(balance.{total}, 0)
    || ', the open rows sum to ' || coalesce(movement.total, 0)
FROM balance
FULL JOIN (
    SELECT tenant_id, sum(amount) AS total
    FROM {table} WHERE status IN ({open}) GROUP BY tenant_id
) AS movement USING (tenant_id)
WHERE coalesce(balance.{total}, 0) <> coalesce(movement.total, 0)
    AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
""")

POSTINGS = SQL("""
SELECT movement.tenant_id, movement.id,
    movement.status || ' with postings ' || coalesce(posted.types::text, 'none')
FROM {table} AS movement
LEFT JOIN LATERAL (
    SELECT array_agg(type::text ORDER BY sequence) AS types,
        bool_and(amount = movement.amount) AS fits
    FROM balance_transaction
    WHERE tenant_id = movement.tenant_id
        AND source_type = %(source_type)s AND source_id = movement.id
) AS posted ON true
WHERE {looked_at} AND (
    coalesce(posted.types, ARRAY[]::text[]) <> ({postings})::text[] OR posted.fits IS FALSE)
""")

ORPHANS = SQL("""
SELECT tenant_id, id, 'posting of unknown ' || %(source_type)s || ' ' || source_id
FROM balance_transaction AS posting
WHERE %(full)s AND source_type = %(source_type)s
    AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
    AND NOT EXISTS (
        SELECT FROM {table} AS movement
        WHERE movement.id = posting.source_id AND movement.tenant_id = posting.tenant_id)
""")

# The history is gapless, each step is a move of the machine, and it ends in the status of the row.
HISTORY = SQL("""
SELECT movement.tenant_id, movement.id, 'history ' || coalesce(steps.path, 'is empty')
    || ' does not lead to ' || movement.status
FROM {table} AS movement
LEFT JOIN LATERAL (
    SELECT string_agg(to_status, ' > ' ORDER BY sequence) AS path,
        (array_agg(to_status ORDER BY sequence DESC))[1] AS ends_in,
        count(*) AS length,
        bool_and(from_status = before AND sequence = number
            AND before || '>' || to_status = ANY(%(moves)s)) AS is_legal
    FROM (
        SELECT *, lag(to_status, 1, '') OVER (ORDER BY sequence) AS before,
            row_number() OVER (ORDER BY sequence) AS number
        FROM {history} WHERE {foreign_key} = movement.id
    ) AS step
) AS steps ON true
WHERE {looked_at} AND (
    steps.ends_in IS DISTINCT FROM movement.status
    OR steps.length <> movement.history_length
    OR steps.is_legal IS DISTINCT FROM true)
""")

# One event per transition that has one, never two. Events are deleted after 30 days.
EVENTS = SQL("""
WITH movement AS (
    SELECT * FROM {table} AS movement WHERE {looked_at}
), expected AS (
    SELECT id, type FROM (
        SELECT step.{foreign_key} AS id, {events} AS type
        FROM {history} AS step JOIN movement ON movement.id = step.{foreign_key}
        WHERE step.created_at > now() - interval '29 days'
    ) AS step WHERE type IS NOT NULL
), actual AS (
    SELECT event.payment_id AS id, event.type
    FROM {outbox} AS event JOIN movement ON movement.id = event.payment_id
    WHERE event.created_at > now() - interval '29 days'
), unequal AS (
    (SELECT id, type, count(*) FROM expected GROUP BY 1, 2
     EXCEPT SELECT id, type, count(*) FROM actual GROUP BY 1, 2)
    UNION ALL
    (SELECT id, type, count(*) FROM actual GROUP BY 1, 2
     EXCEPT SELECT id, type, count(*) FROM expected GROUP BY 1, 2)
)
SELECT DISTINCT movement.tenant_id, movement.id,
    'transitions and events differ in ' || unequal.type
FROM unequal JOIN movement USING (id)
""")

LOOKED_AT = SQL("""
    (%(tenant_id)s::text IS NULL OR movement.tenant_id = %(tenant_id)s)
    AND (%(full)s OR movement.id IN (
        SELECT {foreign_key} FROM {history} WHERE created_at > now() - interval '1 day'
    ))
""")


@dataclass(frozen=True, kw_only=True)
class Movements:
    """One kind of movement. `total` is the balance column that sums the rows in `open_statuses`.

    `postings` is SQL for the types of balance transaction that `movement` has caused, in order;
    `events` is SQL for the event of the history row `step` of `movement`, or null.
    """

    name: str
    table: str
    history: str
    foreign_key: str
    outbox: str
    source_type: str
    states: StateTable
    total: str
    open_statuses: Iterable[str]
    postings: LiteralString
    events: LiteralString

    def check(self, scope: Scope) -> Iterator[Finding]:
        """Every rule over what `scope` asks for. Only reads."""
        values = {
            "tenant_id": scope.tenant_id,
            "full": scope.full,
            "source_type": self.source_type,
            "moves": self._moves(),
        }
        for code, rule in self._rules().items():
            with connection.cursor() as cursor:
                cursor.execute(rule.as_string(), values)
                for tenant_id, subject, message in cursor.fetchall():
                    yield Finding(
                        code=f"{self.name}_{code}",
                        tenant_id=tenant_id,
                        subject=subject,
                        message=message,
                    )

    def _moves(self) -> list[str]:
        """Every legal step as `from>to`; the first one comes from nowhere."""
        starts = [f">{status}" for status in self.states.initial]
        moves = self.states.moves.items()
        return starts + [f"{source}>{target}" for source, targets in moves for target in targets]

    def _rules(self) -> dict[str, Composed]:
        names: dict[str, Composable] = {
            "table": Identifier(self.table),
            "history": Identifier(self.history),
            "foreign_key": Identifier(self.foreign_key),
            "outbox": Identifier(self.outbox),
            "total": Identifier(self.total),
            "total_name": Literal(self.total),
            "open": SQL(", ").join(Literal(str(status)) for status in self.open_statuses),
        }
        looked_at = LOOKED_AT.format(**names)
        rules = {
            self.total: TOTAL,
            "postings": POSTINGS,
            "posting_orphan": ORPHANS,
            "history": HISTORY,
            "events": EVENTS,
        }
        return {
            code: rule.format(
                **names,
                looked_at=looked_at,
                postings=SQL(self.postings),
                events=SQL(self.events),
            )
            for code, rule in rules.items()
        }
