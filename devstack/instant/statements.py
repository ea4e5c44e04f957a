"""Cycle days: what moved on the participant's position between two ends of a day, as files."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta
from pathlib import Path

from devstack.instant import camt, files, positions, store
from devstack.instant.camt import Day, Entry
from devstack.instant.clock import read, written
from devstack.instant.speaking import Desk


def open_books(desk: Desk) -> None:
    """Plan the end of the first cycle day. Those of `days_before` are over already."""
    planned = desk.db.execute(
        "SELECT 1 FROM job WHERE kind = 'statement' AND json_extract(data, '$.profile') = ?",
        (desk.profile.name,),
    ).fetchone()
    if planned is None:
        today = desk.profile.cycle_day(desk.now)
        _plan(desk, today - timedelta(days=desk.terms.days_before))


def close(desk: Desk, _subject: int, *, day: str) -> None:
    """The cycle day is over: what is stated of it, and the next day."""
    found = _day(desk, day)
    desk.db.execute(
        "INSERT INTO statement VALUES (?, ?, ?, ?)",
        (desk.profile.name, day, found.opening, found.closing),
    )
    for name in desk.terms.statements:
        store.insert(
            desk.db,
            "file",
            name=f"{desk.profile.name}_{name}_{day.replace('-', '')}.xml",
            content=camt.write(name, found, desk.profile, desk.terms, at=desk.now),
        )
    _plan(desk, date.fromisoformat(day) + timedelta(days=1))


def so_far(desk: Desk) -> bytes:
    """The report of the present cycle day up to now (camt.052)."""
    found = _day(desk, desk.profile.cycle_day(desk.now).isoformat())
    return camt.write("camt052", found, desk.profile, desk.terms, at=desk.now)


def publish(db: sqlite3.Connection, folder: Path) -> None:
    """Put every file that is not there yet into the folder; a kill in between puts it there again
    under the same name."""
    for row in db.execute("SELECT * FROM file WHERE published = 0 ORDER BY id").fetchall():
        files.write_whole(folder / row["name"], row["content"])
        db.execute("UPDATE file SET published = 1 WHERE id = ?", (row["id"],))


def _day(desk: Desk, day: str) -> Day:
    """What moved on a cycle day; it begins with what the day before ended with."""
    name, routing = desk.profile.name, desk.terms.routing
    later = desk.db.execute(
        "SELECT coalesce(sum(amount), 0) FROM posting"
        " WHERE profile = ? AND routing = ? AND cycle_day > ?",
        (name, routing, day),
    ).fetchone()[0]
    entries = _entries(desk, day)
    closing = positions.of(desk.db, name, routing) - later
    number = desk.db.execute(
        "SELECT count(*) FROM statement WHERE profile = ?", (name,)
    ).fetchone()[0]
    return Day(
        day=date.fromisoformat(day),
        number=number + 1,
        opening=closing - sum(each.amount for each in entries),
        closing=closing,
        entries=entries,
    )


def _entries(desk: Desk, day: str) -> tuple[Entry, ...]:
    rows = desk.db.execute(
        "SELECT posting.id, posting.at, posting.amount, payment.message_id,"
        " payment.instruction_id, payment.end_to_end_id, payment.returns_id, payment.remittance,"
        " CASE WHEN posting.amount > 0 THEN debtor_name ELSE creditor_name END AS party,"
        " funding.reference"
        " FROM posting LEFT JOIN payment ON payment.id = payment_id"
        " LEFT JOIN funding ON funding.posting_id = posting.id"
        " WHERE posting.profile = ? AND routing = ? AND posting.cycle_day = ? ORDER BY posting.id",
        (desk.profile.name, desk.terms.routing, day),
    )
    return tuple(
        Entry(
            number=row["id"],
            at=read(row["at"]),
            amount=row["amount"],
            message_id=row["message_id"] or "",
            instruction_id=row["instruction_id"] or "",
            end_to_end_id=row["end_to_end_id"] or row["reference"] or "NOTPROVIDED",
            party=row["party"] or "",
            is_return=row["returns_id"] is not None,
            text=row["remittance"] or "",
        )
        for row in rows
    )


def _plan(desk: Desk, day: date) -> None:
    store.plan(
        desk.db,
        written(desk.profile.end_of_day(day)),
        "statement",
        profile=desk.profile.name,
        day=day.isoformat(),
    )
