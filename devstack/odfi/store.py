"""The bank's own record, in one SQLite file. What a transaction wrote survives a kill."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);

-- A file that was delivered to us, whatever became of it.
CREATE TABLE IF NOT EXISTS file (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    mark TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    received_at TEXT NOT NULL,
    identity TEXT NOT NULL,
    header TEXT NOT NULL,
    verdict TEXT NOT NULL,
    reasons TEXT NOT NULL,
    batches INTEGER NOT NULL,
    count INTEGER NOT NULL,
    debit INTEGER NOT NULL,
    credit INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS file_accepted_once ON file (identity)
    WHERE verdict != 'rejected';
CREATE TABLE IF NOT EXISTS batch (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES file,
    header TEXT NOT NULL,
    effective TEXT,
    verdict TEXT NOT NULL,
    reasons TEXT NOT NULL,
    count INTEGER NOT NULL,
    debit INTEGER NOT NULL,
    credit INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS batch_of_file ON batch (file_id);
CREATE TABLE IF NOT EXISTS entry (
    id INTEGER PRIMARY KEY,
    batch_id INTEGER NOT NULL REFERENCES batch,
    line INTEGER NOT NULL,
    code TEXT NOT NULL,
    rdfi TEXT NOT NULL,
    account TEXT NOT NULL,
    amount INTEGER NOT NULL,
    individual_id TEXT NOT NULL,
    name TEXT NOT NULL,
    discretionary TEXT NOT NULL,
    trace TEXT NOT NULL,
    addenda TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    warning TEXT NOT NULL,
    effect INTEGER NOT NULL,
    settles_at TEXT
);
CREATE INDEX IF NOT EXISTS entry_of_batch ON entry (batch_id);
CREATE INDEX IF NOT EXISTS entry_by_trace ON entry (trace);
CREATE INDEX IF NOT EXISTS entry_by_account ON entry (account, amount);

-- What we send: a return, a change, a contest, a credit from outside.
CREATE TABLE IF NOT EXISTS answer (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    entry_id INTEGER REFERENCES entry,
    answers_id INTEGER REFERENCES answer,
    code TEXT NOT NULL,
    amount INTEGER NOT NULL,
    effect INTEGER NOT NULL,
    trace TEXT NOT NULL UNIQUE,
    original_trace TEXT NOT NULL,
    data TEXT NOT NULL,
    family TEXT NOT NULL,
    due_at TEXT NOT NULL,
    posts_at TEXT NOT NULL,
    file_id INTEGER REFERENCES sent,
    dishonored TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS answer_about ON answer (entry_id);
CREATE INDEX IF NOT EXISTS answer_by_due ON answer (due_at);
CREATE INDEX IF NOT EXISTS answer_by_posting ON answer (posts_at);

-- A file that we put into a folder of the customer's.
CREATE TABLE IF NOT EXISTS sent (
    id INTEGER PRIMARY KEY,
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    content BLOB NOT NULL,
    made_at TEXT NOT NULL,
    published INTEGER NOT NULL DEFAULT 0,
    UNIQUE (folder, name)
);

-- What will happen, and when.
CREATE TABLE IF NOT EXISTS job (
    id INTEGER PRIMARY KEY,
    due_at TEXT NOT NULL,
    rank INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject INTEGER NOT NULL,
    UNIQUE (due_at, rank, kind, subject)
);
CREATE TABLE IF NOT EXISTS posting (
    id INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    balance INTEGER NOT NULL,
    reference TEXT NOT NULL,
    text TEXT NOT NULL,
    return_code TEXT NOT NULL,
    file_id INTEGER REFERENCES file
);
CREATE INDEX IF NOT EXISTS posting_of_day ON posting (day);
CREATE TABLE IF NOT EXISTS statement (
    day TEXT PRIMARY KEY,
    opening INTEGER NOT NULL,
    closing INTEGER NOT NULL,
    postings INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS fault (name TEXT PRIMARY KEY, times INTEGER, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS outage (sha256 TEXT PRIMARY KEY, failures INTEGER NOT NULL);
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


def plan(db: sqlite3.Connection, due_at: str, rank: int, kind: str, subject: int = 0) -> None:
    """Note something to do. The same thing noted twice is done once."""
    db.execute(
        "INSERT OR IGNORE INTO job (due_at, rank, kind, subject) VALUES (?, ?, ?, ?)",
        (due_at, rank, kind, subject),
    )
