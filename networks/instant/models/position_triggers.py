"""What conversations do to the position of their rail, in SQL: triggers add up what each statement
changed, so no code can forget to."""

from __future__ import annotations

import pgtrigger

_OURS = "{row}.kind IN ('payment', 'give_back')"
# What of a conversation has left the position, or come to it, for good.
MOVED = f"""CASE
    WHEN {_OURS} AND {{row}}.status IN ('settled', 'coming_back', 'final', 'returned')
        THEN -{{row}}.amount
    WHEN {{row}}.kind = 'credit' AND {{row}}.status IN ('final', 'returned') THEN {{row}}.amount
    ELSE 0 END"""
# What is ordered, and nobody has said how it ends.
HELD = f"CASE WHEN {_OURS} AND {{row}}.status = 'sent' THEN {{row}}.amount ELSE 0 END"

_ADD = """
UPDATE instant_position AS position
SET balance = position.balance + change.moved, reserved = position.reserved + change.held
FROM ({changes}) AS change
WHERE position.rail_id = change.rail_id AND (change.moved <> 0 OR change.held <> 0);
RETURN NULL;
"""
_SUMS = "SELECT rail_id, sum(moved) AS moved, sum(held) AS held FROM ({rows}) AS each GROUP BY 1"


def _rows(table: str, sign: str = "") -> str:
    moved, held = MOVED.format(row=table), HELD.format(row=table)
    return f"SELECT rail_id, {sign}({moved}) AS moved, {sign}({held}) AS held FROM {table}"  # noqa: S608


def _trigger(
    name: str, operation: pgtrigger.Operation, rows: str, **seen: str
) -> pgtrigger.Trigger:
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=operation,
        referencing=pgtrigger.Referencing(**seen),
        func=_ADD.format(changes=_SUMS.format(rows=rows)),
    )


COUNTS_NEW = _trigger(
    "instant_conversation_counts", pgtrigger.Insert, _rows("new_rows"), new="new_rows"
)
COUNTS_CHANGED = _trigger(
    "instant_conversation_counts_on",
    pgtrigger.Update,
    f"{_rows('new_rows')} UNION ALL {_rows('old_rows', '-')}",
    new="new_rows",
    old="old_rows",
)
# A rail has a position from the beginning, of nothing.
BEGINS = pgtrigger.Trigger(
    name="instant_rail_begins_at_zero",
    when=pgtrigger.After,
    operation=pgtrigger.Insert,
    func="""
        INSERT INTO instant_position (rail_id, balance, reserved) VALUES (NEW.name, 0, 0);
        RETURN NULL;
    """,
)
