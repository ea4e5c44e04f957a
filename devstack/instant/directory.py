"""Which banks take part in which network, and what each of them receives."""

from __future__ import annotations

import csv
import io
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from devstack.instant import files
from devstack.instant.profiles import PROFILES
from devstack.instant.terms import Terms

FILE = "participants.csv"
OTHERS_POSITION = 100_000_000_000
# Real routing numbers: the banks of the demo's accounts and others that everybody knows. The last
# two receive credits and no requests, and one network has no account at the last.
_BANKS = (
    ("011000015", "FEDERAL RESERVE BANK", True, True, ("rtp", "fednow")),
    ("021000021", "JPMORGAN CHASE", True, True, ("rtp", "fednow")),
    ("026009593", "BANK OF AMERICA", True, True, ("rtp", "fednow")),
    ("071000013", "JPMORGAN CHASE", True, True, ("rtp", "fednow")),
    ("091000019", "WELLS FARGO", True, True, ("rtp", "fednow")),
    ("121000248", "WELLS FARGO", True, True, ("rtp", "fednow")),
    ("122105155", "US BANK", True, False, ("rtp", "fednow")),
    ("031101279", "BANCORP BANK", True, False, ("fednow",)),
)


@dataclass(frozen=True)
class Participant:
    profile: str
    routing: str
    name: str
    receives_credits: bool
    receives_requests: bool
    position: int


def open_books(db: sqlite3.Connection, terms: Terms) -> None:
    """The participants of a new record."""
    if db.execute("SELECT 1 FROM participant").fetchone() is not None:
        return
    for profile in PROFILES:
        add(db, profile, terms.routing, terms.participant_name, position=terms.opening_position)
    for routing, name, credits, requests, profiles in _BANKS:
        for profile in profiles:
            add(db, profile, routing, name, receives_credits=credits, receives_requests=requests)


def add(
    db: sqlite3.Connection,
    profile: str,
    routing: str,
    name: str,
    *,
    receives_credits: bool = True,
    receives_requests: bool = True,
    position: int = OTHERS_POSITION,
) -> None:
    """Let a bank take part, or change what it receives; its position stays."""
    db.execute(
        "INSERT INTO participant VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (profile, routing) DO UPDATE SET name = excluded.name,"
        " receives_credits = excluded.receives_credits,"
        " receives_requests = excluded.receives_requests",
        (profile, routing, name, receives_credits, receives_requests, position),
    )


def remove(db: sqlite3.Connection, profile: str, routing: str) -> bool:
    """Let a bank that has never moved money take part no longer."""
    return bool(
        db.execute(
            "DELETE FROM participant WHERE profile = ? AND routing = ? AND NOT EXISTS"
            " (SELECT 1 FROM posting WHERE profile = participant.profile"
            " AND routing = participant.routing)",
            (profile, routing),
        ).rowcount
    )


def find(db: sqlite3.Connection, profile: str, routing: str) -> Participant | None:
    row = db.execute(
        "SELECT * FROM participant WHERE profile = ? AND routing = ?", (profile, routing)
    ).fetchone()
    return None if row is None else _participant(row)


def all_of(db: sqlite3.Connection) -> list[Participant]:
    rows = db.execute("SELECT * FROM participant ORDER BY profile, routing")
    return [_participant(row) for row in rows]


def publish(db: sqlite3.Connection, home: Path) -> None:
    """Write the directory that participants import."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["network", "routing_number", "name", "receives_credits", "receives_requests"])
    for each in all_of(db):
        row = (each.receives_credits, each.receives_requests)
        writer.writerow(
            [each.profile, each.routing, each.name, *("yes" if yes else "no" for yes in row)]
        )
    files.write_whole(home / FILE, text.getvalue().encode())


def _participant(row: sqlite3.Row) -> Participant:
    return Participant(
        profile=row["profile"],
        routing=row["routing"],
        name=row["name"],
        receives_credits=bool(row["receives_credits"]),
        receives_requests=bool(row["receives_requests"]),
        position=row["position"],
    )
