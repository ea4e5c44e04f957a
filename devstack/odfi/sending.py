"""Files for the customer: written down first, then put into a folder whole, under a final name.

A kill in between puts the same bytes there under the same name.
"""

from __future__ import annotations

import os
import sqlite3
from datetime import datetime
from pathlib import Path

from devstack.odfi import faults, store
from devstack.odfi.clock import written

FOLDERS = ("outbound", "ack", "inbound", "statements")
WHOLE, HALF = 1, 2


def keep(db: sqlite3.Connection, folder: str, name: str, content: bytes, *, now: datetime) -> int:
    """Write a file down, to be published; gives its id."""
    row = db.execute(
        "INSERT INTO sent (folder, name, content, made_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (folder, name) DO UPDATE SET content = excluded.content, published = 0"
        " RETURNING id",
        (folder, name, content, written(now)),
    ).fetchone()
    return int(row[0])


def publish(db: sqlite3.Connection, root: Path) -> None:
    """Put every file that is not there yet into its folder."""
    rows = db.execute("SELECT id FROM sent WHERE published = 0 ORDER BY id").fetchall()
    for (number,) in rows:
        row = db.execute("SELECT * FROM sent WHERE id = ?", (number,)).fetchone()
        with store.transaction(db):
            state = _put(db, root, row)
            db.execute("UPDATE sent SET published = ? WHERE id = ?", (state, row["id"]))


def complete_halves(db: sqlite3.Connection, root: Path) -> None:
    """Put the whole of what was cut."""
    db.execute("UPDATE sent SET published = 0 WHERE published = ?", (HALF,))
    publish(db, root)


def again(db: sqlite3.Connection, name: str) -> int:
    """Publish a file once more; gives how many have the name."""
    return db.execute("UPDATE sent SET published = 0 WHERE name = ?", (name,)).rowcount


def _put(db: sqlite3.Connection, root: Path, row: sqlite3.Row) -> int:
    folder, content = root / row["folder"], row["content"]
    is_inbound = row["folder"] == "inbound"
    if is_inbound and faults.strike(db, "half_file") is not None:
        write_whole(folder / row["name"], content[: len(content) // 2])
        return HALF
    write_whole(folder / row["name"], content)
    if is_inbound and faults.strike(db, "hand_out_twice") is not None:
        write_whole(folder / f"again_{row['name']}", content)
    return WHOLE


def write_whole(path: Path, content: bytes) -> None:
    """A reader sees the whole file or none."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
