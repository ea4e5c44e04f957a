"""The bank's day: does what is due, one instant after the other, each in its own transaction."""

from __future__ import annotations

import json
import sqlite3
from datetime import date, datetime

from devstack.odfi import acks, calendar, outgoing, sending, statements, store, terms
from devstack.odfi.clock import Clock, read, written
from devstack.odfi.terms import Terms

STATEMENT_RANK = 3


def open_books(db: sqlite3.Connection, now: datetime) -> None:
    """Before the first day: the opening balance and the first statement to come."""
    if db.execute("SELECT 1 FROM job WHERE kind = 'statement'").fetchone() is None:
        _plan_statement(db, calendar.open_from(calendar.day_of(now)))


def next_due(db: sqlite3.Connection) -> datetime | None:
    row = db.execute("SELECT min(due_at) FROM job").fetchone()
    return read(row[0]) if row[0] else None


def next_statement(db: sqlite3.Connection) -> date:
    """The day of which the next statement will be."""
    row = db.execute("SELECT min(due_at) FROM job WHERE kind = 'statement'").fetchone()
    return _day_before(read(row[0]))


def has_work(db: sqlite3.Connection) -> bool:
    """Whether anything waits but the statements of days on which nothing happened."""
    row = db.execute(
        "SELECT EXISTS (SELECT 1 FROM job WHERE kind != 'statement')"
        " OR EXISTS (SELECT 1 FROM posting WHERE day NOT IN (SELECT day FROM statement))"
    ).fetchone()
    return bool(row[0])


def run_due(db: sqlite3.Connection, clock: Clock, until: datetime) -> int:
    """Do everything that is due by `until`, in order; gives how many instants there were."""
    count = 0
    while (due := next_due(db)) is not None and due <= until:
        with store.transaction(db):
            _run_instant(db, due)
            clock.move_to(due)
        count += 1
    return count


def _run_instant(db: sqlite3.Connection, at: datetime) -> None:
    jobs = db.execute(
        "SELECT * FROM job WHERE due_at = ? ORDER BY rank, id", (written(at),)
    ).fetchall()
    for job in jobs:
        _JOBS[job["kind"]](db, job["subject"], at)
    db.executemany("DELETE FROM job WHERE id = ?", [(job["id"],) for job in jobs])


def post(
    db: sqlite3.Connection,
    kind: str,
    amount: int,
    at: datetime,
    *,
    reference: str,
    text: str,
    return_code: str = "",
    file_id: int | None = None,
) -> None:
    """Book an amount on the customer's account."""
    db.execute(
        "INSERT INTO posting (day, at, kind, amount, balance, reference, text, return_code,"
        " file_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            calendar.day_of(at).isoformat(),
            written(at),
            kind,
            amount,
            balance(db) + amount,
            reference,
            text,
            return_code,
            file_id,
        ),
    )


def balance(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT balance FROM posting ORDER BY id DESC LIMIT 1").fetchone()
    return int(row[0]) if row else terms.load(db).opening_balance


def _settle(db: sqlite3.Connection, batch_id: int, at: datetime) -> None:
    """The entries of a batch that settle now: what is agreed of totals, and a posting for each
    offset to the customer's own account."""
    agreed = terms.load(db)
    batch = db.execute("SELECT * FROM batch WHERE id = ?", (batch_id,)).fetchone()
    together = [batch_id] if agreed.totals == "batch" else _batches_of_file(db, batch, at)
    if batch_id == together[0]:
        _post_settlement(db, batch, together, agreed, at)
    db.execute(
        "UPDATE entry SET status = 'settled' WHERE batch_id = ? AND settles_at = ?"
        " AND status = 'accepted'",
        (batch_id, written(at)),
    )


def _batches_of_file(db: sqlite3.Connection, batch: sqlite3.Row, at: datetime) -> list[int]:
    """The batches of the same file that settle at the same time."""
    rows = db.execute(
        "SELECT DISTINCT batch_id FROM entry JOIN batch ON batch.id = batch_id"
        " WHERE file_id = ? AND settles_at = ? ORDER BY batch_id",
        (batch["file_id"], written(at)),
    )
    return [row[0] for row in rows]


def _post_settlement(
    db: sqlite3.Connection, first: sqlite3.Row, batches: list[int], agreed: Terms, at: datetime
) -> None:
    places = ", ".join("?" * len(batches))
    chosen = (*batches, written(at))
    settling = f"FROM entry WHERE batch_id IN ({places}) AND settles_at = ?"
    credit, debit = db.execute(
        "SELECT coalesce(sum(max(effect, 0)), 0), coalesce(sum(min(effect, 0)), 0)" + settling,
        chosen,
    ).fetchone()
    offsets = db.execute(
        f"SELECT effect {settling} AND rdfi = ? AND trim(account) = ? AND effect != 0 ORDER BY id",
        (*chosen, agreed.odfi, agreed.settlement_account),
    ).fetchall()
    header = json.loads(first["header"])
    about = {
        "reference": _quoted(db, first, agreed),
        "text": f"{header['company_name'].strip()} {header['description'].strip()}",
        "file_id": first["file_id"],
    }
    for amount in (credit, debit) if agreed.gross else (credit + debit,):
        if amount:
            post(db, "settlement", amount, at, **about)
    for (effect,) in offsets:
        post(db, "offset", -effect, at, **about)


def _quoted(db: sqlite3.Connection, batch: sqlite3.Row, agreed: Terms) -> str:
    """What statements name of a batch: when its file was made and the file's modifier, and then
    the number of the batch, if the sum is of one batch."""
    if agreed.quotes == "nothing":
        return ""
    row = db.execute("SELECT header FROM file WHERE id = ?", (batch["file_id"],)).fetchone()
    header = json.loads(row["header"])
    name = f"{header['date']}{header['time']}{header['modifier']}"
    if agreed.quotes == "file" or agreed.totals == "file":
        return name
    return f"{name}-{json.loads(batch['header'])['number']}"


def _post_answers(db: sqlite3.Connection, _subject: int, at: datetime) -> None:
    rows = db.execute(
        "SELECT answer.*, entry.name FROM answer LEFT JOIN entry ON entry.id = entry_id"
        " WHERE posts_at = ? AND answer.effect != 0 ORDER BY answer.id",
        (written(at),),
    ).fetchall()
    for row in rows:
        is_credit = row["kind"] == "credit"
        said = json.loads(row["data"]).get("company", "") if is_credit else row["name"].strip()
        post(
            db,
            "credit" if is_credit else "return",
            row["effect"],
            at,
            reference=row["trace"],
            text=said if is_credit else f"{row['code']} {said} {row['original_trace']}",
            return_code="" if is_credit else row["code"],
        )
    db.execute(
        "UPDATE entry SET status = 'returned' WHERE status = 'settled' AND id IN"
        " (SELECT entry_id FROM answer WHERE posts_at = ? AND kind = 'return')",
        (written(at),),
    )


def _deliver(db: sqlite3.Connection, _subject: int, at: datetime) -> None:
    outgoing.deliver(db, terms.load(db), at=at)


def _acknowledge(db: sqlite3.Connection, file_id: int, at: datetime) -> None:
    acks.write(db, file_id, now=at)


def _state(db: sqlite3.Connection, _subject: int, at: datetime) -> None:
    """The statements of the banking day that ended before `at`."""
    row = db.execute("SELECT max(day) FROM statement").fetchone()
    last = date.fromisoformat(row[0]) if row[0] else None
    day = calendar.next_open(last) if last else _day_before(at)
    statement = statements.close(db, day, at=at)
    for name, content in statements.files(statement, terms.load(db), at=at):
        sending.keep(db, "statements", name, content, now=at)
    _plan_statement(db, calendar.next_open(day))


def _day_before(at: datetime) -> date:
    day = calendar.day_of(at) - calendar.DAY
    while not calendar.is_open(day):
        day -= calendar.DAY
    return day


def _plan_statement(db: sqlite3.Connection, day: date) -> None:
    due = calendar.instant(day + calendar.DAY, calendar.STATEMENT_TIME)
    store.plan(db, written(due), STATEMENT_RANK, "statement")


_JOBS = {
    "settle": _settle,
    "post": _post_answers,
    "deliver": _deliver,
    "ack": _acknowledge,
    "statement": _state,
}
