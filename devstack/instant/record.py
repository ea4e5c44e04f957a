"""What the operator holds, as JSON: for tests that compare it with the product's books."""

from __future__ import annotations

import sqlite3
from typing import Any

from devstack.instant import directory

LIMIT = 10_000


def payments(
    db: sqlite3.Connection,
    *,
    profile: str = "",
    end_to_end_id: str = "",
    after: int = 0,
    limit: int = LIMIT,
) -> list[dict[str, Any]]:
    """Payments in both directions, in the order in which they came."""
    return _rows(
        db,
        "SELECT * FROM payment WHERE id > :after AND (:profile = '' OR profile = :profile)"
        " AND (:end_to_end_id = '' OR end_to_end_id = :end_to_end_id) ORDER BY id LIMIT :limit",
        profile=profile,
        end_to_end_id=end_to_end_id,
        after=after,
        limit=min(limit, LIMIT),
    )


def requests(
    db: sqlite3.Connection, *, account: str = "", end_to_end_id: str = "", after: int = 0
) -> list[dict[str, Any]]:
    """Requests for payment, in the order in which they came."""
    return _rows(
        db,
        "SELECT * FROM request WHERE id > :after AND (:account = '' OR debtor_account = :account)"
        " AND (:end_to_end_id = '' OR end_to_end_id = :end_to_end_id) ORDER BY id LIMIT :limit",
        account=account,
        end_to_end_id=end_to_end_id,
        after=after,
        limit=LIMIT,
    )


def return_requests(db: sqlite3.Connection) -> list[dict[str, Any]]:
    return _rows(db, "SELECT * FROM return_request ORDER BY id")


def messages(
    db: sqlite3.Connection, *, profile: str = "", after: int = 0, limit: int = 100
) -> list[dict[str, Any]]:
    """Messages in both directions with their content, seen from the operator."""
    rows = _rows(
        db,
        "SELECT * FROM message WHERE id > :after AND (:profile = '' OR profile = :profile)"
        " ORDER BY id LIMIT :limit",
        profile=profile,
        after=after,
        limit=min(limit, LIMIT),
    )
    return [{**row, "content": row["content"].decode(errors="replace")} for row in rows]


def totals(db: sqlite3.Connection) -> dict[str, Any]:
    """How many payments and requests are in each state, and what is not acknowledged yet."""
    states = "SELECT profile || ' ' || direction || ' ' || status, count(*), sum(amount)"
    requested = "SELECT profile || ' ' || status, count(*) FROM request GROUP BY 1"
    waiting = "SELECT count(*) FROM message WHERE direction = 'out' AND acknowledged_at IS NULL"
    return {
        "payments": {
            row[0]: [row[1], row[2]] for row in db.execute(f"{states} FROM payment GROUP BY 1")
        },
        "requests": {row[0]: row[1] for row in db.execute(requested)},
        "not_acknowledged": db.execute(waiting).fetchone()[0],
    }


def positions(db: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """Cents of each participant, by network and routing number."""
    found: dict[str, dict[str, int]] = {}
    for each in directory.all_of(db):
        found.setdefault(each.profile, {})[each.routing] = each.position
    return found


def _rows(db: sqlite3.Connection, query: str, **values: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in db.execute(query, values)]
