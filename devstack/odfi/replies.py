"""What the customer answers to us: dishonored returns, refused changes, returned credits."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime

from devstack.odfi import answers, calendar, layouts
from devstack.odfi.answers import Answer
from devstack.odfi.clock import read
from devstack.odfi.parts import Entry

REFUSALS = frozenset(f"C{number}" for number in range(61, 70))
DISHONORS = frozenset(answers.CONTESTS)


def take(db: sqlite3.Connection, entry: Entry, *, settles_at: datetime) -> str:
    """Note a reply and plan what comes of it. Gives a remark for the acknowledgement, or nothing.

    `settles_at` is when the reply itself settles.
    """
    record = entry.addenda[0]
    code = record[3:6]
    if record[1:3] == "98":
        return _change_refused(db, record, settles_at) if code in REFUSALS else "not_a_refusal"
    if code in DISHONORS:
        return _dishonored(db, entry, record, settles_at)
    return _credit_returned(db, record)


def _change_refused(db: sqlite3.Connection, record: str, settles_at: datetime) -> str:
    found = layouts.CHANGE.read(record)
    row = db.execute(
        "SELECT * FROM answer WHERE kind = 'change' AND original_trace = ?"
        " AND substr(trace, 9) = ? AND dishonored = ''",
        (found["original_trace"], found["refused_trace"]),
    ).fetchone()
    if row is None:
        return "unknown_change"
    db.execute("UPDATE answer SET dishonored = ? WHERE id = ?", (found["code"], row["id"]))
    subject = answers.subject_of(db, row["entry_id"])
    if row["family"] == "620" and subject is not None:
        at = calendar.instant(
            calendar.plus(calendar.day_of(settles_at), answers.CONTEST_DAYS), calendar.OPENING
        )
        data = json.dumps({"corrected": answers.corrected(row["code"], "600", subject)})
        again = Answer(
            answers.CHANGE,
            subject,
            row["code"],
            subject.rdfi,
            due_at=at,
            posts_at=at,
            original_trace=subject.trace,
            answers_id=row["id"],
            data=data,
        )
        answers.keep(db, again)
    return ""


def _credit_returned(db: sqlite3.Connection, record: str) -> str:
    found = layouts.RETURN.read(record)
    changed = db.execute(
        "UPDATE answer SET dishonored = ? WHERE kind = 'credit' AND trace = ? AND dishonored = ''",
        (found["code"], found["original_trace"]),
    )
    return "" if changed.rowcount else "unknown_original"


def _dishonored(db: sqlite3.Connection, entry: Entry, record: str, settles_at: datetime) -> str:
    found = layouts.DISHONORED.read(record)
    row = db.execute(
        "SELECT * FROM answer WHERE kind = 'return' AND trace = ? AND dishonored = ''",
        (found["return_trace"],),
    ).fetchone()
    if row is None:
        return "unknown_return"
    db.execute("UPDATE answer SET dishonored = ? WHERE id = ?", (found["code"], row["id"]))
    code = _contest_code(row, found["code"], settles_at)
    subject = answers.subject_of(db, row["entry_id"])
    if code and subject is not None:
        day = calendar.plus(calendar.day_of(settles_at), answers.CONTEST_DAYS)
        at = calendar.instant(day, calendar.OPENING)
        data = _contested_fields(row, found["code"], entry.trace, settles_at)
        is_corrected = code == "R74"
        contest = Answer(
            answers.CONTEST,
            subject,
            code,
            subject.rdfi,
            due_at=at,
            posts_at=at,
            amount=subject.amount if is_corrected else row["amount"],
            original_trace=subject.trace if is_corrected else row["original_trace"],
            answers_id=row["id"],
            data=json.dumps(data),
        )
        answers.keep(db, contest)
    return ""


def _contest_code(row: sqlite3.Row, dishonored: str, settles_at: datetime) -> str:
    """Empty where the account holder's bank takes the entry back."""
    returned_on = calendar.day_of(read(row["posts_at"]))
    days = calendar.banking_days_between(returned_on, calendar.day_of(settles_at))
    if days > answers.DISHONOR_DAYS:
        return "R72"
    if row["family"] in {"110", "210"}:
        return answers.CONTESTS[dishonored]
    return "R74" if dishonored == "R69" else ""


def _contested_fields(
    row: sqlite3.Row, code: str, trace: str, settles_at: datetime
) -> dict[str, str]:
    """What a contested return says of the return and of its dishonor."""
    returned_on = calendar.day_of(read(row["posts_at"]))
    return {
        "original_returned": f"{returned_on:%y%m%d}",
        "return_trace": row["trace"],
        "return_settlement": calendar.julian(returned_on),
        "return_code": row["code"][1:],
        "dishonored_trace": trace,
        "dishonored_settlement": calendar.julian(calendar.day_of(settles_at)),
        "dishonored_code": code[1:],
    }
