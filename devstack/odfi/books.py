"""What the bank holds, as JSON: for tests that compare it with the product's books to the cent."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from devstack.odfi import days

LIMIT = 10_000
_ENTRIES = """
SELECT entry.*, file.id AS file_id, file.name AS file_name, batch.header
FROM entry JOIN batch ON batch.id = batch_id JOIN file ON file.id = file_id
WHERE entry.id > :after AND (:trace = '' OR trace = :trace) AND (:file = '' OR file.name = :file)
ORDER BY entry.id LIMIT :limit
"""


def book(
    db: sqlite3.Connection, *, trace: str = "", file: str = "", after: int = 0, limit: int = LIMIT
) -> dict[str, Any]:
    """Entries in the order in which they came, with what was answered. `next` asks for more."""
    limit = min(limit, LIMIT)
    wanted = {"trace": trace, "file": file, "after": after, "limit": limit}
    rows = db.execute(_ENTRIES, wanted).fetchall()
    return {
        "entries": [_entry(db, row) for row in rows],
        "next": rows[-1]["id"] if len(rows) == limit else None,
    }


def totals(db: sqlite3.Connection) -> dict[str, Any]:
    """The account, and how many entries are in each state."""
    kinds = db.execute(
        "SELECT kind, count(*) AS count, sum(amount) AS amount FROM posting GROUP BY kind"
    )
    states = db.execute(
        "SELECT status, count(*) AS count, sum(effect) AS effect FROM entry GROUP BY status"
    )
    return {
        "balance": days.balance(db),
        "postings": {row["kind"]: [row["count"], row["amount"]] for row in kinds},
        "entries": {row["status"]: [row["count"], row["effect"]] for row in states},
    }


def files(db: sqlite3.Connection) -> list[dict[str, Any]]:
    rows = db.execute("SELECT * FROM file ORDER BY id").fetchall()
    return [
        {**dict(row), "header": json.loads(row["header"]), "reasons": json.loads(row["reasons"])}
        for row in rows
    ]


def postings(db: sqlite3.Connection, *, after: int = 0, limit: int = LIMIT) -> list[dict[str, Any]]:
    rows = db.execute(
        "SELECT * FROM posting WHERE id > ? ORDER BY id LIMIT ?", (after, min(limit, LIMIT))
    )
    return [dict(row) for row in rows]


def received(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """The credits that nobody asked for."""
    rows = db.execute(
        "SELECT answer.*, sent.name AS sent_name FROM answer"
        " LEFT JOIN sent ON sent.id = answer.file_id WHERE kind = 'credit' ORDER BY answer.id"
    )
    return [_answer(row) for row in rows.fetchall()]


def _entry(db: sqlite3.Connection, row: sqlite3.Row) -> dict[str, Any]:
    header = json.loads(row["header"])
    said = db.execute(
        "SELECT answer.*, sent.name AS sent_name FROM answer"
        " LEFT JOIN sent ON sent.id = answer.file_id WHERE entry_id = ? ORDER BY answer.id",
        (row["id"],),
    )
    return {
        "id": row["id"],
        "file": row["file_name"],
        "batch": header["number"],
        "line": row["line"],
        "sec": header["sec"],
        "description": header["description"].strip(),
        "company_id": header["company_id"].strip(),
        "trace": row["trace"],
        "code": row["code"],
        "rdfi": row["rdfi"],
        "account": row["account"].strip(),
        "amount": row["amount"],
        "individual_id": row["individual_id"].strip(),
        "name": row["name"].strip(),
        "status": row["status"],
        "reason": row["reason"],
        "warning": row["warning"],
        "effect": row["effect"],
        "settles_at": row["settles_at"],
        "answers": [_answer(each) for each in said.fetchall()],
    }


def _answer(row: sqlite3.Row) -> dict[str, Any]:
    names = ("id", "kind", "code", "amount", "effect", "trace", "original_trace")
    shown = {name: row[name] for name in (*names, "due_at", "posts_at", "dishonored")}
    shown["data"] = json.loads(row["data"])
    shown["file"] = row["sent_name"]
    return shown
