"""What each participant has to pay with. Money moves once for each payment."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from devstack.instant import store
from devstack.instant.clock import written
from devstack.instant.profiles import Profile


def of(db: sqlite3.Connection, profile: str, routing: str) -> int:
    """Cents of a participant; 0 of a bank that takes no part."""
    row = db.execute(
        "SELECT position FROM participant WHERE profile = ? AND routing = ?", (profile, routing)
    ).fetchone()
    return int(row[0]) if row else 0


def settle(db: sqlite3.Connection, payment: sqlite3.Row, profile: Profile, now: datetime) -> None:
    """Move the money of a payment between the positions of two banks. Raises ValueError for one
    that is settled already."""
    done = db.execute(
        "UPDATE payment SET settled_at = ?, cycle_day = ?, status = 'settled'"
        " WHERE id = ? AND settled_at IS NULL",
        (written(now), profile.cycle_day(now).isoformat(), payment["id"]),
    )
    if done.rowcount != 1:
        raise ValueError("a payment settles once")
    _move(db, profile, payment["debtor_routing"], -payment["amount"], payment["id"], now)
    _move(db, profile, payment["creditor_routing"], payment["amount"], payment["id"], now)


def adjust(
    db: sqlite3.Connection,
    profile: Profile,
    routing: str,
    amount: int,
    now: datetime,
    *,
    reference: str = "",
) -> None:
    """Bring money of a participant into the network (or take it out), by hand. What has a reference
    is done once, however often it is asked for. Raises ValueError if it was another amount."""
    if not reference:
        _move(db, profile, routing, amount, None, now)
        return
    known = db.execute(
        "SELECT routing, amount FROM funding JOIN posting ON posting.id = posting_id"
        " WHERE funding.profile = ? AND reference = ?",
        (profile.name, reference),
    ).fetchone()
    if known is None:
        posting = _move(db, profile, routing, amount, None, now)
        store.insert(db, "funding", profile=profile.name, reference=reference, posting_id=posting)
    elif tuple(known) != (routing, amount):
        raise ValueError(f"{reference} was another amount, or of another participant")


def _move(
    db: sqlite3.Connection,
    profile: Profile,
    routing: str,
    amount: int,
    payment_id: int | None,
    now: datetime,
) -> int:
    row = db.execute(
        "UPDATE participant SET position = position + ? WHERE profile = ? AND routing = ?"
        " RETURNING position",
        (amount, profile.name, routing),
    ).fetchone()
    return store.insert(
        db,
        "posting",
        profile=profile.name,
        routing=routing,
        payment_id=payment_id,
        amount=amount,
        position=row[0],
        cycle_day=profile.cycle_day(now).isoformat(),
        at=written(now),
    )
