"""What can be made to go wrong, by name. A switch stays on across restarts, for a number of times
or until it is turned off."""

from __future__ import annotations

import sqlite3
from types import MappingProxyType

FAULTS = MappingProxyType(
    {
        "refuse_connection": "nobody listens",
        "wrong_host_key": "the host shows another key",
        "stall": "each file operation takes VALUE milliseconds longer",
        "drop_upload": "the line breaks when VALUE bytes of a file were written",
        "drop_download": "the line breaks when VALUE bytes of a file were read",
        "full_disk": "nothing can be written",
        "lost_answer": "the line breaks after a rename was done, before it is answered",
        "half_file": "the next inbound file is cut in half; the whole one follows when turned off",
        "hand_out_twice": "the next inbound file is there under two names",
        "late_ack": "acknowledgements wait VALUE more seconds of the bank's clock",
        "no_ack": "no acknowledgements",
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


def value(db: sqlite3.Connection, name: str) -> int | None:
    """The value of a switch that is on; None when it is off."""
    row = db.execute("SELECT value FROM fault WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def strike(db: sqlite3.Connection, name: str) -> int | None:
    """The same, and count one time."""
    found = value(db, name)
    if found is not None:
        db.execute("UPDATE fault SET times = times - 1 WHERE name = ?", (name,))
        db.execute("DELETE FROM fault WHERE name = ? AND times <= 0", (name,))
    return found
