"""Which messages are applied next: taken straight from the index of what waits.

Whoever takes messages locks the first that nobody has locked, and applies them in the same
transaction: two workers never look at the same ones. Of the messages about one row only the first
in the queue is taken. The next one can be taken when that one is applied, put aside, or at the end
of the queue; so the order is kept, whoever applies them.

Notifications of change are about the account, not about what becomes of the money: they are no part
of this queue (`corrections`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common.engine import arrays, sql
from networks.base import EventKind
from transfers.contract import MessageHandler
from transfers.inbox.models import InboundEvent, InboundOutcome

# `OFFSET 0`: the messages ahead are looked for in their row's few, whatever PostgreSQL believes of
# the table.
_TAKE = """
SELECT {columns} FROM {table} AS event
WHERE next_attempt_at IS NOT NULL AND next_attempt_at <= %(now)s AND outcome = %(new)s
    AND starts_with(instruction_id, %(prefix)s) AND kind <> 'corrected'
    AND (kind = ANY(%(kinds)s::text::text[]) AND attempts = 0) = %(together)s
    AND (%(end)s::timestamptz IS NULL OR (next_attempt_at, id) <= (%(end)s, %(end_id)s::bigint))
    AND id <> ALL(%(passed)s::text::bigint[]) AND id <> ALL(%(kept)s::text::bigint[])
    AND NOT EXISTS (
        SELECT FROM {table} AS ahead
        WHERE ahead.instruction_id = event.instruction_id AND ahead.next_attempt_at IS NOT NULL
            AND ahead.kind <> 'corrected'
            AND (ahead.next_attempt_at, ahead.id) < (event.next_attempt_at, event.id)
            AND ahead.id <> ALL(%(passed)s::text::bigint[])
        OFFSET 0
    )
ORDER BY next_attempt_at, id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
"""


@dataclass(frozen=True, kw_only=True)
class Queue:
    """The messages to a handler that are due at `now`.

    Those of `kinds` that never failed are applied `together`, all others alone.
    """

    handler: MessageHandler[Any]
    kinds: Collection[EventKind]
    now: datetime

    def together(
        self, *, limit: int, passed: Collection[int], kept: Collection[int] = ()
    ) -> list[InboundEvent]:
        """The first messages of different rows, at most `limit`, locked until the transaction
        ends. `passed`: ids to pass over, as if they were not there. `kept`: ids that are not taken
        either, and keep their place, so that nothing about their rows overtakes them."""
        return self._take(limit, passed, kept, None, together=True)

    def alone(
        self, passed: Collection[int], end: InboundEvent | None, kept: Collection[int] = ()
    ) -> list[InboundEvent]:
        """The first message that is to be applied by itself and is not behind `end`, if there is
        one, locked as well."""
        return self._take(1, passed, kept, end, together=False)

    def _take(
        self,
        limit: int,
        passed: Collection[int],
        kept: Collection[int],
        end: InboundEvent | None,
        *,
        together: bool,
    ) -> list[InboundEvent]:
        table = InboundEvent._meta.db_table
        statement = _TAKE.format(columns=sql.columns(InboundEvent), table=table)
        values = {
            "now": self.now,
            "new": str(InboundOutcome.NEW),
            "prefix": self.handler.id_prefix,
            "kinds": arrays.texts(map(str, self.kinds)),
            "together": together,
            "end": end and end.next_attempt_at,
            "end_id": end and end.pk,
            "passed": arrays.plain(passed),
            "kept": arrays.plain(kept),
            "limit": limit,
        }
        return [sql.instance(InboundEvent, row) for row in sql.rows(statement, values)]
