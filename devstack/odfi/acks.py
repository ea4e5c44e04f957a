"""The acknowledgement of a file: JSON lines. First the file, then its batches, then the entries
that are not plainly accepted (or all), last a line that says how many lines there are."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from devstack.odfi import sending, terms
from devstack.odfi.clock import written

FOLDER = "ack"


def write(db: sqlite3.Connection, file_id: int, *, now: datetime) -> None:
    """Make the acknowledgement of a file that was taken."""
    file = db.execute("SELECT * FROM file WHERE id = ?", (file_id,)).fetchone()
    lines = [*_lines(db, file, now)]
    lines.append({"type": "end", "lines": len(lines) + 1})
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    sending.keep(db, FOLDER, f"{file['name']}.{file_id}.jsonl", content, now=now)


def _lines(db: sqlite3.Connection, file: sqlite3.Row, now: datetime) -> Iterator[dict[str, Any]]:
    yield _file_line(db, file, now)
    batches = db.execute("SELECT * FROM batch WHERE file_id = ? ORDER BY id", (file["id"],))
    for batch in batches.fetchall():
        yield _batch_line(db, batch)
    left_out = "" if terms.load(db).ack_every_entry else "accepted"
    entries = db.execute(
        "SELECT entry.*, batch.header FROM entry JOIN batch ON batch.id = batch_id"
        " WHERE file_id = ? AND reason != 'batch' AND (status != ? OR warning != '')"
        " ORDER BY entry.id",
        (file["id"], left_out),
    )
    for entry in entries:
        yield _entry_line(entry)


def _file_line(db: sqlite3.Connection, file: sqlite3.Row, now: datetime) -> dict[str, Any]:
    header = json.loads(file["header"])
    accepted = db.execute(
        "SELECT count(entry.id), coalesce(sum(max(effect, 0)), 0),"
        " coalesce(-sum(min(effect, 0)), 0) FROM entry JOIN batch ON batch.id = batch_id"
        " WHERE file_id = ? AND status = 'accepted'",
        (file["id"],),
    ).fetchone()
    return {
        "type": "file",
        "file": file["name"],
        "sha256": file["sha256"],
        "verdict": file["verdict"],
        "reasons": json.loads(file["reasons"]),
        "received_at": file["received_at"],
        "acknowledged_at": written(now),
        "origin": header.get("origin", "").strip(),
        "origin_name": header.get("origin_name", "").strip(),
        "date": header.get("date", ""),
        "time": header.get("time", ""),
        "modifier": header.get("modifier", ""),
        "batches": file["batches"],
        "entries_and_addenda": file["count"],
        "debit": file["debit"],
        "credit": file["credit"],
        "accepted": dict(zip(("entries", "debit", "credit"), accepted, strict=True)),
    }


def _batch_line(db: sqlite3.Connection, batch: sqlite3.Row) -> dict[str, Any]:
    header = json.loads(batch["header"])
    settles = db.execute(
        "SELECT DISTINCT settles_at FROM entry WHERE batch_id = ? AND settles_at IS NOT NULL"
        " ORDER BY settles_at",
        (batch["id"],),
    )
    return {
        "type": "batch",
        "batch": header["number"].strip(),
        "verdict": batch["verdict"],
        "reasons": json.loads(batch["reasons"]),
        "odfi": header["odfi"],
        "company_name": header["company_name"].strip(),
        "company_id": header["company_id"].strip(),
        "sec": header["sec"],
        "service_class": header["service_class"],
        "description": header["description"].strip(),
        "effective": batch["effective"],
        "settles_at": [row["settles_at"] for row in settles],
        "entries_and_addenda": batch["count"],
        "debit": batch["debit"],
        "credit": batch["credit"],
    }


def _entry_line(entry: sqlite3.Row) -> dict[str, Any]:
    return {
        "type": "entry",
        "batch": json.loads(entry["header"])["number"].strip(),
        "line": entry["line"],
        "trace": entry["trace"],
        "amount": entry["amount"],
        "status": entry["status"],
        "code": entry["reason"],
        "warning": entry["warning"],
        "settles_at": entry["settles_at"],
    }
