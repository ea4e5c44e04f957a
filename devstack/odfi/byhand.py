"""What somebody at the bank does by hand: sends an entry back, asks for a change, sends money,
charges a fee."""

from __future__ import annotations

import json
import re
import sqlite3
from datetime import datetime

from devstack.odfi import answers, days, layouts
from devstack.odfi.answers import Answer, Subject


class Refused(ValueError):
    """The bank cannot do this."""


def send_back(db: sqlite3.Connection, trace: str, code: str, *, now: datetime) -> int:
    """Return an entry with any code, also one that no rule book knows. Raises Refused."""
    if not re.fullmatch(r"R\d\d", code):
        raise Refused(f"{code!r} is no return code")
    subject = _subject(db, trace)
    answer = Answer(
        answers.RETURN,
        subject,
        code,
        subject.rdfi,
        due_at=now,
        posts_at=max(now, subject.settles_at),
        amount=subject.amount,
        original_trace=subject.trace,
    )
    return answers.keep(db, answer)


def ask_for_change(
    db: sqlite3.Connection, trace: str, code: str, corrected: str, *, now: datetime
) -> int:
    """Send a notification of change with any code and data. Raises Refused."""
    if not re.fullmatch(r"C\d\d", code):
        raise Refused(f"{code!r} is no change code")
    subject = _subject(db, trace)
    answer = Answer(
        answers.CHANGE,
        subject,
        code,
        subject.rdfi,
        due_at=now,
        posts_at=now,
        original_trace=subject.trace,
        data=json.dumps({"corrected": corrected}),
    )
    return answers.keep(db, answer)


def send_credit(
    db: sqlite3.Connection,
    amount: int,
    *,
    now: datetime,
    company: str = "A STRANGER",
    description: str = "PAYMENT",
    individual_id: str = "",
    name: str = "",
) -> int:
    """Money from outside for the customer's account. Raises Refused."""
    if not 0 < amount < layouts.ENTRY_LIMIT:
        raise Refused(f"{amount} cents do not fit an entry")
    nobody = Subject(0, "22", answers.STRANGER, "", amount, "", now, now)
    data = {
        "company": company,
        "company_id": "1555000222",
        "description": description,
        "individual_id": individual_id,
        "name": name,
    }
    answer = Answer(
        answers.CREDIT,
        nobody,
        "22",
        answers.STRANGER,
        due_at=now,
        posts_at=now,
        amount=amount,
        data=json.dumps(data),
    )
    return answers.keep(db, answer)


def charge(db: sqlite3.Connection, amount: int, *, now: datetime, text: str) -> None:
    """Take a fee of the bank from the customer's account. No file tells of it but the statement.
    Raises Refused."""
    if amount <= 0:
        raise Refused(f"a fee of {amount} cents is none")
    days.post(db, "fee", -amount, now, reference="", text=text)


def _subject(db: sqlite3.Connection, trace: str) -> Subject:
    """The newest entry of a trace number."""
    row = db.execute(
        "SELECT id FROM entry WHERE trace = ? ORDER BY id DESC LIMIT 1", (trace,)
    ).fetchone()
    subject = answers.subject_of(db, row["id"]) if row else None
    if subject is None:
        raise Refused(f"no entry that settles has the trace number {trace}")
    return subject
