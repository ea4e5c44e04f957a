"""What the bank watches beyond the operator's edits: entries that refer to earlier ones. It takes
them and warns; the account holder's bank may send them back."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from devstack.odfi import calendar, layouts
from devstack.odfi.clock import read
from devstack.odfi.parts import Batch, Entry

MICRO_DEPOSIT_MAX = 99
REVERSAL_DAYS = 5
RETRY_DAYS = 180
RETRIES = 2


def warning(db: sqlite3.Connection, batch: Batch, entry: Entry, settles_at: datetime) -> str:
    """A word for what is not in order about a well-formed entry; empty if nothing is."""
    match batch.text("description"):
        case "ACCTVERIFY":
            is_credit = entry.code in layouts.CREDITS
            too_large = is_credit and entry.amount > MICRO_DEPOSIT_MAX
            return "micro_deposit_too_large" if too_large else ""
        case "REVERSAL":
            return _reversal(db, batch, entry, settles_at)
        case "RETRY PYMT":
            return _retry(db, batch, entry, settles_at)
    return ""


def _reversal(db: sqlite3.Connection, batch: Batch, entry: Entry, settles_at: datetime) -> str:
    is_debit = entry.code in layouts.DEBITS
    settled = [
        calendar.day_of(read(row["settles_at"]))
        for row in _earlier(db, batch, entry)
        if (row["code"] in layouts.DEBITS) != is_debit and row["sec"] == batch.header["sec"]
    ]
    if not settled:
        return "reversal_without_original"
    days = calendar.banking_days_between(max(settled), calendar.day_of(settles_at))
    return "reversal_too_late" if days > REVERSAL_DAYS else ""


def _retry(db: sqlite3.Connection, batch: Batch, entry: Entry, settles_at: datetime) -> str:
    rows = [row for row in _earlier(db, batch, entry) if row["code"] == entry.code]
    firsts = [row for row in rows if row["description"] != "RETRY PYMT" and _bounced(db, row["id"])]
    if not firsts:
        return "retry_without_original"
    first = firsts[-1]
    retries = [row for row in rows if row["id"] > first["id"] and row not in firsts]
    if len(retries) >= RETRIES:
        return "retried_too_often"
    days = (calendar.day_of(settles_at) - calendar.day_of(read(first["settles_at"]))).days
    return "retried_too_late" if days > RETRY_DAYS else ""


def _earlier(db: sqlite3.Connection, batch: Batch, entry: Entry) -> list[sqlite3.Row]:
    """Entries that settle of the same company, account and amount, oldest first."""
    rows = db.execute(
        "SELECT entry.*, json_extract(batch.header, '$.sec') AS sec,"
        " trim(json_extract(batch.header, '$.description')) AS description"
        " FROM entry JOIN batch ON batch.id = batch_id"
        " WHERE account = ? AND amount = ? AND rdfi = ? AND settles_at IS NOT NULL"
        " AND json_extract(batch.header, '$.company_id') = ? ORDER BY entry.id",
        (entry.account, entry.amount, entry.rdfi, batch.header["company_id"]),
    )
    return rows.fetchall()


def _bounced(db: sqlite3.Connection, entry_id: int) -> bool:
    row = db.execute(
        "SELECT 1 FROM answer WHERE entry_id = ? AND kind = 'return' AND code IN ('R01', 'R09')",
        (entry_id,),
    ).fetchone()
    return row is not None


def return_for(warned: str, sec: str) -> str:
    """The code with which the holder's bank sends such an entry back; empty where it keeps it."""
    if not warned.startswith("reversal"):
        return ""
    return "R17" if sec == "CCD" else "R11"
