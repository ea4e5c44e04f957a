"""The operator's own record, in one SQLite file. What a transaction wrote survives a kill."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS fault (name TEXT PRIMARY KEY, times INTEGER, value INTEGER NOT NULL);

-- A bank of a network, and what it has there to pay with, in cents.
CREATE TABLE IF NOT EXISTS participant (
    profile TEXT NOT NULL,
    routing TEXT NOT NULL,
    name TEXT NOT NULL,
    receives_credits INTEGER NOT NULL,
    receives_requests INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (profile, routing)
);

-- Every message, in both directions, seen from us: the operator.
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    direction TEXT NOT NULL CHECK (direction IN ('in', 'out')),
    kind TEXT NOT NULL,
    message_id TEXT NOT NULL,
    about INTEGER REFERENCES message,
    at TEXT NOT NULL,
    content BLOB NOT NULL,
    digest TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    deliveries INTEGER NOT NULL DEFAULT 0,
    acknowledged_at TEXT
);
CREATE INDEX IF NOT EXISTS message_by_id ON message (profile, direction, message_id);
CREATE INDEX IF NOT EXISTS message_to_deliver ON message (profile, id)
    WHERE direction = 'out' AND acknowledged_at IS NULL;

-- A payment by our participant ('out') or to it ('in'). `code` is its status in the network's
-- words, as who asks is told it.
CREATE TABLE IF NOT EXISTS payment (
    id INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    direction TEXT NOT NULL CHECK (direction IN ('in', 'out')),
    kind TEXT NOT NULL,
    message_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    instruction_id TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    amount INTEGER NOT NULL,
    debtor_routing TEXT NOT NULL,
    debtor_account TEXT NOT NULL,
    debtor_name TEXT NOT NULL,
    creditor_routing TEXT NOT NULL,
    creditor_account TEXT NOT NULL,
    creditor_name TEXT NOT NULL,
    remittance TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL,
    code TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    settled_at TEXT,
    cycle_day TEXT,
    request_id INTEGER REFERENCES request,
    returns_id INTEGER REFERENCES payment,
    UNIQUE (profile, direction, message_id)
);
CREATE INDEX IF NOT EXISTS payment_by_end_to_end_id ON payment (profile, end_to_end_id);
CREATE INDEX IF NOT EXISTS payment_given_back ON payment (returns_id);

-- A request for payment by our participant.
CREATE TABLE IF NOT EXISTS request (
    id INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    message_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    payment_information_id TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    requested_day TEXT NOT NULL,
    amount INTEGER NOT NULL,
    expires_at TEXT NOT NULL,
    debtor_routing TEXT NOT NULL,
    debtor_account TEXT NOT NULL,
    debtor_name TEXT NOT NULL,
    creditor_routing TEXT NOT NULL,
    creditor_account TEXT NOT NULL,
    creditor_name TEXT NOT NULL,
    remittance TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    decided_at TEXT,
    UNIQUE (profile, message_id)
);
CREATE INDEX IF NOT EXISTS request_by_account ON request (debtor_account, status);
CREATE INDEX IF NOT EXISTS request_by_end_to_end_id ON request (profile, end_to_end_id);

-- A payer's bank asks our participant to return a payment.
CREATE TABLE IF NOT EXISTS return_request (
    id INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    payment_id INTEGER NOT NULL REFERENCES payment,
    message_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT '',
    answer TEXT NOT NULL DEFAULT ''
);

-- How often a payment was tried, for accounts that behave otherwise at the first time.
CREATE TABLE IF NOT EXISTS attempt (
    profile TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (profile, end_to_end_id)
);

-- Money on a participant's position. The sum over each payment is zero.
CREATE TABLE IF NOT EXISTS posting (
    id INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    routing TEXT NOT NULL,
    payment_id INTEGER REFERENCES payment,
    amount INTEGER NOT NULL,
    position INTEGER NOT NULL,
    cycle_day TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS posting_of_day ON posting (profile, routing, cycle_day);
CREATE INDEX IF NOT EXISTS posting_of_payment ON posting (payment_id);

-- What whoever brought money in, or took it out, calls that: each name counts once.
CREATE TABLE IF NOT EXISTS funding (
    profile TEXT NOT NULL,
    reference TEXT NOT NULL,
    posting_id INTEGER NOT NULL UNIQUE REFERENCES posting,
    PRIMARY KEY (profile, reference)
);

CREATE TABLE IF NOT EXISTS statement (
    profile TEXT NOT NULL,
    day TEXT NOT NULL,
    opening INTEGER NOT NULL,
    closing INTEGER NOT NULL,
    PRIMARY KEY (profile, day)
);

-- A file of a cycle day, to be put into a folder.
CREATE TABLE IF NOT EXISTS file (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    content BLOB NOT NULL,
    published INTEGER NOT NULL DEFAULT 0
);

-- What will happen, and when.
CREATE TABLE IF NOT EXISTS job (
    id INTEGER PRIMARY KEY,
    due_at TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject INTEGER NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS job_by_due ON job (due_at, id);
"""


def connect(path: Path) -> sqlite3.Connection:
    """Open the record, making it if it is new. Transactions are begun by `transaction` only."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    db.executescript(SCHEMA)
    return db


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def next_number(db: sqlite3.Connection, name: str) -> int:
    """1, 2, 3 ... of a named counter."""
    row = db.execute(
        "INSERT INTO counter VALUES (?, 1)"
        " ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
        (name,),
    ).fetchone()
    return int(row[0])


def insert(db: sqlite3.Connection, table: str, **values: Any) -> int:
    """A new row of one of our tables; gives its id."""
    names = ", ".join(values)
    places = ", ".join(f":{name}" for name in values)
    cursor = db.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", values)  # noqa: S608
    return int(cursor.lastrowid or 0)


def row(db: sqlite3.Connection, table: str, number: int) -> sqlite3.Row:
    """The row with this id. Raises KeyError."""
    found: sqlite3.Row | None = db.execute(
        f"SELECT * FROM {table} WHERE id = ?",  # noqa: S608
        (number,),
    ).fetchone()
    if found is None:
        raise KeyError(f"there is no {table} {number}")
    return found


def plan(db: sqlite3.Connection, due_at: str, kind: str, subject: int = 0, **data: Any) -> None:
    """Note something to do."""
    insert(db, "job", due_at=due_at, kind=kind, subject=subject, data=json.dumps(data))
