"""Messages to the participant: written down first, handed out until they are acknowledged."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from devstack.instant import faults
from devstack.instant.clock import written
from devstack.instant.profiles import Profile
from devstack.instant.store import insert, next_number, row

FETCH_MAX = 500


def number(db: sqlite3.Connection) -> int:
    """The next number for an id of ours."""
    return next_number(db, "id")


def put(
    db: sqlite3.Connection,
    profile: Profile,
    kind: str,
    message_id: str,
    content: bytes,
    *,
    about: int | None,
    now: datetime,
) -> int:
    """Keep a message, to be handed out from now on; gives its id. Faults damage it here."""
    is_bent = faults.strike(db, "bent_xml") is not None
    number = insert(
        db,
        "message",
        profile=profile.name,
        direction="out",
        kind=kind,
        message_id=message_id,
        about=about,
        at=written(now),
        content=content[: len(content) // 2] if is_bent else content,
        digest="",
        note="cut off" if is_bent else "",
    )
    if faults.strike(db, "message_twice") is not None:
        again(db, number, now=now)
    return number


def again(db: sqlite3.Connection, number: int, *, now: datetime) -> None:
    """Hand out the same bytes once more, as another delivery."""
    message = row(db, "message", number)
    insert(
        db,
        "message",
        profile=message["profile"],
        direction="out",
        kind=message["kind"],
        message_id=message["message_id"],
        about=message["about"],
        at=written(now),
        content=message["content"],
        digest="",
        note="once more",
    )


def answers(db: sqlite3.Connection, about: int) -> list[int]:
    """What was said about a message that we took, oldest first."""
    rows = db.execute(
        "SELECT id FROM message WHERE direction = 'out' AND about = ? AND note = '' ORDER BY id",
        (about,),
    )
    return [each[0] for each in rows]


def waiting(db: sqlite3.Connection, profile: str, *, limit: int) -> list[sqlite3.Row]:
    """Messages that were not acknowledged yet, oldest first; counts the delivery."""
    rows = db.execute(
        "SELECT id, content FROM message WHERE direction = 'out' AND acknowledged_at IS NULL"
        " AND profile = ? ORDER BY id LIMIT ?",
        (profile, min(limit, FETCH_MAX)),
    ).fetchall()
    db.executemany(
        "UPDATE message SET deliveries = deliveries + 1 WHERE id = ?", [(row[0],) for row in rows]
    )
    return rows


def acknowledge(db: sqlite3.Connection, profile: str, ids: list[int], *, now: datetime) -> int:
    """Hand these out no more; gives how many that changes."""
    done = db.executemany(
        "UPDATE message SET acknowledged_at = ? WHERE id = ? AND profile = ?"
        " AND direction = 'out' AND acknowledged_at IS NULL",
        [(written(now), each, profile) for each in ids],
    )
    return done.rowcount
