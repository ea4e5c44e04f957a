"""Triggers that refuse to touch what belongs to a closed day, whoever asks.

Each looks once per statement, however many rows that changes.
"""

from __future__ import annotations

import pgtrigger

_REFUSE = """
IF EXISTS (
    SELECT FROM {rows}
    JOIN reconciliation_closedday AS closed ON closed.rail_id = {of}.rail_id
        AND closed.day >= {of}.{day}
) THEN
    RAISE EXCEPTION 'the day of a row of % is closed', TG_TABLE_NAME
        USING ERRCODE = 'check_violation', CONSTRAINT = 'day_is_open';
END IF;
RETURN NULL;
"""
_OF_MATCH = "{} AS row JOIN reconciliation_match AS match ON match.id = row.match_id"
_BEFORE_AND_AFTER = "(TABLE old_rows UNION ALL TABLE new_rows)"


def never_added(day: str) -> pgtrigger.Trigger:
    """Refuses new rows whose `day` is closed at their rail."""
    return _added(_REFUSE.format(rows="new_rows AS row", of="row", day=day))


def never_added_to_match() -> pgtrigger.Trigger:
    """Refuses new rows of a match of a closed day."""
    return _added(_REFUSE.format(rows=_OF_MATCH.format("new_rows"), of="match", day="day"))


def never_changed() -> pgtrigger.Trigger:
    """Refuses changes of a row whose `day` is closed at its rail."""
    return _changed(_REFUSE.format(rows="new_rows AS row", of="row", day="day"))


def never_moved() -> pgtrigger.Trigger:
    """Refuses to take rows out of a match of a closed day, or to bring any into it."""
    rows = _OF_MATCH.format(_BEFORE_AND_AFTER)
    return _changed(_REFUSE.format(rows=rows, of="match", day="day"))


def _added(func: str) -> pgtrigger.Trigger:
    return pgtrigger.Trigger(
        name="added_to_an_open_day",
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        referencing=pgtrigger.Referencing(new="new_rows"),
        func=func,
    )


def _changed(func: str) -> pgtrigger.Trigger:
    return pgtrigger.Trigger(
        name="changed_in_an_open_day",
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=pgtrigger.Update,
        referencing=pgtrigger.Referencing(old="old_rows", new="new_rows"),
        func=func,
    )
