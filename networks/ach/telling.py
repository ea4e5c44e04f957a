"""What the rest of Ballast is told about entries. The events of a call are written with what they
are about, or not at all."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from common.engine import arrays, sql

# The entries of one batch that the bank took: sent becomes accepted, and what follows is foretold.
_ACCEPT = """
WITH taken AS (
    UPDATE ach_achentry SET status = 'accepted', accepted_at = %(now)s::timestamptz,
        settlement_date = %(day)s::date, promised_on = greatest(promised_on, %(day)s::date),
        final_due_at = CASE WHEN is_debit OR purpose = 'prenote' THEN %(debit_final)s::timestamptz
            ELSE %(credit_final)s::timestamptz END
    WHERE batch_id = %(batch)s AND status = 'sent'
    RETURNING id, rail_id, instruction_id, amount, trace_number, is_debit, purpose,
        coalesce(first_number, id) AS number
), told AS (
    INSERT INTO ach_achevent (
        rail_id, entry_id, instruction_id, kind, code, reason, amount, settlement_date,
        trace_number, reference, occurred_at, due_at, acknowledged
    )
    SELECT rail_id, taken.id, instruction_id, step.kind, '', '', amount, %(day)s::date,
        trace_number, 'ACH' || lpad(number::text, 12, '0'), step.at, step.at, false
    FROM taken CROSS JOIN LATERAL (VALUES
        (1, 'accepted', %(now)s::timestamptz),
        (2, 'settled', greatest(%(settled)s::timestamptz, %(now)s::timestamptz)),
        (3, 'final', greatest(
            CASE WHEN is_debit THEN %(debit_final)s::timestamptz
                ELSE %(credit_final)s::timestamptz END, %(now)s::timestamptz))
    ) AS step (place, kind, at)
    WHERE NOT purpose = 'prenote'  -- it is our own: nobody waits for it
    ORDER BY taken.id, step.place
), later AS (
    INSERT INTO ach_achevent (
        rail_id, entry_id, instruction_id, kind, code, reason, amount, settlement_date,
        trace_number, reference, occurred_at, due_at, acknowledged
    )
    SELECT taken.rail_id, taken.id, taken.instruction_id, 'rescheduled', '', '', taken.amount,
        %(day)s::date, taken.trace_number, 'ACH' || lpad(taken.number::text, 12, '0'),
        %(now)s::timestamptz, %(now)s::timestamptz, false
    FROM taken JOIN ach_achentry AS before USING (id)
    WHERE before.promised_on < %(day)s::date
    ORDER BY taken.id
)
SELECT count(*) FROM taken
"""
# One thing said about some entries, which ends them, from now on.
_END = """
WITH ended AS (
    UPDATE ach_achentry AS entry
    SET status = %(status)s, code = given.code, ended_at = %(now)s::timestamptz, waits_for = ''
    FROM unnest(%(ids)s::text::bigint[], %(codes)s::text::text[]) AS given (id, code)
    WHERE entry.id = given.id AND entry.status = ANY(%(sources)s::text::text[])
    RETURNING entry.id, rail_id, instruction_id, amount, trace_number, given.code,
        coalesce(first_number, entry.id) AS number
), void AS (
    UPDATE ach_achevent AS event SET voided_at = %(now)s::timestamptz
    FROM ended
    WHERE event.entry_id = ended.id AND event.kind IN ('rescheduled', 'settled', 'final')
        AND NOT event.acknowledged AND event.voided_at IS NULL
), told AS (
    INSERT INTO ach_achevent (
        rail_id, entry_id, instruction_id, kind, code, reason, amount, trace_number, reference,
        occurred_at, due_at, acknowledged
    )
    SELECT rail_id, id, instruction_id, %(kind)s, code, %(reason)s, amount, trace_number,
        'ACH' || lpad(number::text, 12, '0'), %(now)s::timestamptz,
        %(now)s::timestamptz, false
    FROM ended ORDER BY id
)
SELECT id FROM ended
"""


def accepted(
    batch_id: int,
    *,
    day: object,
    settled: datetime,
    debit_final: datetime,
    credit_final: datetime,
    now: datetime,
) -> int:
    """The bank took the entries of a batch, which settle on `day`. Returns how many they are."""
    ((count,),) = sql.rows(
        _ACCEPT,
        {
            "batch": batch_id,
            "day": day,
            "settled": settled,
            "debit_final": debit_final,
            "credit_final": credit_final,
            "now": now,
        },
    )
    return int(count)


def ended(
    codes: dict[int, str],
    *,
    status: str,
    kind: str,
    sources: Collection[str],
    now: datetime,
    reason: str = "",
) -> list[int]:
    """Entries came to their end, each with a code: those of them whose status is one of `sources`,
    whose ids are returned. What was foretold of them and is untold is void."""
    if not codes:
        return []
    found = sql.rows(
        _END,
        {
            "ids": arrays.plain(codes),
            "codes": arrays.texts(codes.values()),
            "status": status,
            "kind": kind,
            "sources": arrays.texts(sources),
            "reason": reason,
            "now": now,
        },
    )
    return [each for (each,) in found]
