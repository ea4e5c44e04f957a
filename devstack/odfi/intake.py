"""Takes a delivered file: reads it, judges it, writes everything down in one transaction."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from devstack.odfi import acks, answers, calendar, entries, faults, layouts, replies, rules, store
from devstack.odfi.answers import Answer, Subject
from devstack.odfi.clock import written
from devstack.odfi.judging import Report, examine
from devstack.odfi.parts import Batch, Entry, Reason
from devstack.odfi.scripts import Kind, Script, script_of
from devstack.odfi.terms import Terms

SETTLE_RANK, ACK_RANK = 0, 0
ROWS_AT_ONCE = 5000
REFERRING = frozenset({"RETRY PYMT", "REVERSAL"})
INSERT = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def mark_of(path: Path) -> str:
    """Tells one delivery from another, also of the same name, and survives a crash of ours."""
    found = path.stat()
    return f"{found.st_ino}:{found.st_mtime_ns}:{path.name}"


def is_taken(db: sqlite3.Connection, path: Path) -> bool:
    row = db.execute("SELECT 1 FROM file WHERE mark = ?", (mark_of(path),)).fetchone()
    return row is not None


def take(db: sqlite3.Connection, path: Path, terms: Terms, *, now: datetime) -> int:
    """Take a file that was delivered at `now`; gives its id. Needs a transaction around it."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        digest = _digest(stream)
        file_id = _begin(db, path, digest, size, now)
        taker = _Taker(db, file_id, terms, now)
        report = _judged(db, stream, size, terms, taker)
    _finish(db, file_id, report, taker)
    _plan_ack(db, file_id, terms, now)
    return file_id


def _digest(stream: BinaryIO) -> str:
    digest = sha256()
    while chunk := stream.read(1 << 20):
        digest.update(chunk)
    stream.seek(0)
    return digest.hexdigest()


def _judged(
    db: sqlite3.Connection, stream: BinaryIO, size: int, terms: Terms, taker: _Taker
) -> Report:
    if size > terms.file_bytes_max:
        report = Report()
        report.refuse(1, "file_too_large", f"{size} bytes")
        return report
    report = examine(stream, terms, taker)
    taker.flush()
    known = db.execute(
        "SELECT name FROM file WHERE identity = ? AND verdict != 'rejected'", (_identity(report),)
    ).fetchone()
    if known is not None:
        report.refuse(1, "duplicate_file", f"{known['name']} was accepted before")
    return report


def _identity(report: Report) -> str:
    """What two different files may not share."""
    header = report.header
    return "|".join(header.get(name, "") for name in ("origin", "date", "time", "modifier"))


def _begin(db: sqlite3.Connection, path: Path, digest: str, size: int, now: datetime) -> int:
    row = db.execute(
        "INSERT INTO file (name, mark, sha256, size, received_at, identity, header, verdict,"
        " reasons, batches, count, debit, credit)"
        " VALUES (?, ?, ?, ?, ?, '', '{}', 'rejected', '[]', 0, 0, 0, 0) RETURNING id",
        (path.name, mark_of(path), digest, size, written(now)),
    ).fetchone()
    return int(row[0])


def _finish(db: sqlite3.Connection, file_id: int, report: Report, taker: _Taker) -> None:
    if report.reasons:
        verdict = "rejected"
        _undo(db, file_id)
    else:
        taker.plan()
        verdict = "part_rejected" if taker.has_refusals else "accepted"
    totals = report.totals
    db.execute(
        "UPDATE file SET identity = ?, header = ?, verdict = ?, reasons = ?, batches = ?,"
        " count = ?, debit = ?, credit = ? WHERE id = ?",
        (
            _identity(report),
            json.dumps(report.header),
            verdict,
            _json(report.reasons),
            report.batches,
            totals.count,
            totals.debit,
            totals.credit,
            file_id,
        ),
    )


def _undo(db: sqlite3.Connection, file_id: int) -> None:
    """A refused file leaves what was wrong with its batches, and nothing else."""
    db.execute(
        "DELETE FROM entry WHERE batch_id IN (SELECT id FROM batch WHERE file_id = ?)", (file_id,)
    )
    db.execute("UPDATE batch SET verdict = 'rejected' WHERE file_id = ?", (file_id,))


def _plan_ack(db: sqlite3.Connection, file_id: int, terms: Terms, now: datetime) -> None:
    if faults.strike(db, "no_ack") is not None:
        return
    delay = terms.ack_delay + (faults.strike(db, "late_ack") or 0)
    if delay:
        due_at = now.timestamp() + delay
        moment = datetime.fromtimestamp(due_at, tz=calendar.EASTERN)
        store.plan(db, written(moment), ACK_RANK, "ack", file_id)
    else:
        acks.write(db, file_id, now=now)


class _Taker:
    """Writes batches and entries down as they are read; plans what comes of them at the end."""

    def __init__(self, db: sqlite3.Connection, file_id: int, terms: Terms, now: datetime) -> None:
        self.db, self.file_id, self.terms = db, file_id, terms
        self.day, self.window = calendar.processing(now)
        self.distributed_at = calendar.instant(self.day, self.window.distribution)
        self.next_id = 1 + (db.execute("SELECT max(id) FROM entry").fetchone()[0] or 0)
        self.rows: list[tuple[object, ...]] = []
        self.batch_id = 0
        self.answers: list[Answer] = []
        self.settlements: set[tuple[str, int]] = set()
        self.replies: list[tuple[Entry, int, datetime]] = []
        self.of_batch: tuple[int, int, int] = (0, 0, 0)
        self.has_refusals = False

    def open(self, batch: Batch) -> None:
        effective = batch.effective
        row = self.db.execute(
            "INSERT INTO batch (file_id, header, effective, verdict, reasons, count, debit, credit)"
            " VALUES (?, ?, ?, 'open', '[]', 0, 0, 0) RETURNING id",
            (self.file_id, json.dumps(batch.header), effective and effective.isoformat()),
        ).fetchone()
        self.batch_id = int(row[0])
        self.of_batch = (len(self.answers), len(self.replies), self.next_id)

    def entry(self, batch: Batch, entry: Entry) -> None:
        if batch.text("description") in REFERRING:
            self.flush()
        settles_at = self._settles_at(batch, entry)
        number, self.next_id = self.next_id, self.next_id + 1
        code = entries.refusal(batch, entry, self.day)
        self.has_refusals |= bool(code)
        if entry.is_return:
            self._reply(entry, number, code, settles_at)
        else:
            self._forward(batch, entry, number, code, settles_at)

    def _reply(self, entry: Entry, number: int, code: str, settles_at: datetime) -> None:
        """A refused reply is not answered and moves nothing."""
        if code:
            self._write(entry, number, status="rejected", code=code)
        else:
            self._write(entry, number, status="accepted", settles_at=settles_at)
            self.replies.append((entry, number, settles_at))

    def _forward(
        self, batch: Batch, entry: Entry, number: int, code: str, settles_at: datetime
    ) -> None:
        """A refused entry settles all the same, and so does its return."""
        subject = self._subject(entry, number, settles_at)
        script = script_of(entry.account, batch.text("description"))
        warned = rules.warning(self.db, batch, entry, settles_at)
        if code:
            self._write(entry, number, status="rejected", code=code, settles_at=settles_at)
            self.answers.append(answers.by_operator(code, subject))
        elif script.kind is Kind.HOLD:
            self._write(entry, number, status="held", warned=warned)
        else:
            self._write(entry, number, status="accepted", warned=warned, settles_at=settles_at)
            if not self._is_ours(entry):
                self._answers_of(batch, subject, script, warned)

    def _answers_of(self, batch: Batch, subject: Subject, script: Script, warned: str) -> None:
        code = rules.return_for(warned, batch.header["sec"])
        if code:
            day = calendar.plus(calendar.day_of(subject.settles_at), 1)
            at = calendar.instant(day, calendar.OPENING)
            self.answers.append(answers.returned(code, subject, at))
        else:
            self.answers += answers.planned(script, subject, self.terms)

    def close(self, batch: Batch) -> None:
        first_answer, first_reply, first_entry = self.of_batch
        totals = batch.totals
        self.db.execute(
            "UPDATE batch SET verdict = ?, reasons = ?, count = ?, debit = ?, credit = ?"
            " WHERE id = ?",
            (
                "rejected" if batch.reasons else "accepted",
                _json(batch.reasons),
                totals.count,
                totals.debit,
                totals.credit,
                self.batch_id,
            ),
        )
        if batch.reasons:
            self.flush()
            self.has_refusals = True
            del self.answers[first_answer:], self.replies[first_reply:]
            self.settlements = {each for each in self.settlements if each[1] != self.batch_id}
            self.db.execute(
                "UPDATE entry SET status = 'rejected', reason = 'batch', effect = 0,"
                " settles_at = NULL WHERE id >= ?",
                (first_entry,),
            )

    def flush(self) -> None:
        self.db.executemany(INSERT, self.rows)
        self.rows.clear()

    def plan(self) -> None:
        """The file is taken: what was read becomes things to do."""
        for entry, number, settles_at in self.replies:
            remark = replies.take(self.db, entry, settles_at=settles_at)
            if remark:
                self._refuse_reply(number, remark)
        for answer in self.answers:
            answers.keep(self.db, answer)
        for moment, batch_id in sorted(self.settlements):
            store.plan(self.db, moment, SETTLE_RANK, "settle", batch_id)

    def _refuse_reply(self, number: int, remark: str) -> None:
        self.has_refusals = True
        self.db.execute(
            "UPDATE entry SET status = 'rejected', reason = 'R27', warning = ?, effect = 0,"
            " settles_at = NULL WHERE id = ?",
            (remark, number),
        )

    def _settles_at(self, batch: Batch, entry: Entry) -> datetime:
        effective: date | None = None if entry.is_return else batch.effective
        return calendar.settlement(
            self.day,
            self.window,
            effective,
            same_day_allowed=entry.amount <= self.terms.same_day_limit,
        )

    def _subject(self, entry: Entry, number: int, settles_at: datetime) -> Subject:
        return Subject(
            id=number,
            code=entry.code,
            rdfi=entry.rdfi,
            account=entry.account,
            amount=entry.amount,
            trace=entry.trace,
            settles_at=settles_at,
            distributed_at=self.distributed_at,
        )

    def _is_ours(self, entry: Entry) -> bool:
        """Whether it is the offset to the customer's own account with us."""
        account = entry.account.strip()
        return (entry.rdfi, account) == (self.terms.odfi, self.terms.settlement_account)

    def _write(
        self,
        entry: Entry,
        number: int,
        *,
        status: str,
        code: str = "",
        warned: str = "",
        settles_at: datetime | None = None,
    ) -> None:
        effect = 0
        if settles_at is not None:
            effect = entry.amount if entry.code in layouts.DEBITS else -entry.amount
            self.settlements.add((written(settles_at), self.batch_id))
        self.rows.append(
            (
                number,
                self.batch_id,
                entry.line,
                entry.code,
                entry.rdfi,
                entry.account,
                entry.amount,
                entry.individual_id,
                entry.name,
                entry.discretionary,
                entry.trace,
                json.dumps(entry.addenda) if entry.addenda else "[]",
                status,
                code,
                warned,
                effect,
                written(settles_at) if settles_at else None,
            )
        )
        if len(self.rows) >= ROWS_AT_ONCE:
            self.flush()


def _json(reasons: list[Reason]) -> str:
    return json.dumps([asdict(reason) for reason in reasons])
