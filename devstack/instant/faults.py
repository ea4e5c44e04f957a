"""What can be made to go wrong, by name. A switch stays on across restarts, for a number of times
or until it is turned off."""

from __future__ import annotations

import sqlite3
from types import MappingProxyType

FAULTS = MappingProxyType(
    {
        "refuse_connection": "nobody listens",
        "other_key": "the server shows a key that is not pinned",
        "stall": "each request takes VALUE milliseconds longer",
        "close_before": "the line breaks before a message was taken",
        "close_after": "the line breaks after a message was taken, before its answer",
        "unavailable": "requests are answered 503",
        "lose_answer": "a status report to the sender is never sent",
        "message_twice": "the next message to the participant comes twice",
        "bent_xml": "the next message to the participant is cut off in the middle",
    }
)


class UnknownFault(ValueError):
    """There is no switch of this name."""


def turn_on(db: sqlite3.Connection, name: str, *, times: int | None, value: int) -> None:
    if name not in FAULTS:
        raise UnknownFault(f"there is no fault {name!r}: {', '.join(FAULTS)}")
    db.execute("REPLACE INTO fault VALUES (?, ?, ?)", (name, times, value))


def turn_off(db: sqlite3.Connection, name: str) -> None:
    """`all` turns everything off."""
    if name == "all":
        db.execute("DELETE FROM fault")
        return
    if name not in FAULTS:
        raise UnknownFault(f"there is no fault {name!r}: {', '.join(FAULTS)}")
    db.execute("DELETE FROM fault WHERE name = ?", (name,))


def active(db: sqlite3.Connection) -> dict[str, dict[str, int | None]]:
    rows = db.execute("SELECT * FROM fault ORDER BY name")
    return {row["name"]: {"times": row["times"], "value": row["value"]} for row in rows}


def strike(db: sqlite3.Connection, name: str) -> int | None:
    """The value of a switch that is on, counted one time; None when it is off."""
    row = db.execute("SELECT value FROM fault WHERE name = ?", (name,)).fetchone()
    if row is None:
        return None
    db.execute("UPDATE fault SET times = times - 1 WHERE name = ?", (name,))
    db.execute("DELETE FROM fault WHERE name = ? AND times <= 0", (name,))
    return int(row["value"])
