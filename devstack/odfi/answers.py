"""What the banks say about entries, and when: planned when an entry arrives, sent when due."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from datetime import date, datetime

from devstack.odfi import calendar, layouts, store
from devstack.odfi.clock import read, written
from devstack.odfi.scripts import Kind, Script
from devstack.odfi.terms import Terms

OPERATOR = "06100014"
STRANGER = "21100001"
RETURN, CHANGE, CONTEST, CREDIT = "return", "change", "contest", "credit"
POST_RANK, DELIVER_RANK = 1, 2
DISHONOR_DAYS = 5
CONTEST_DAYS = 2
CONTESTS = {"R61": "R71", "R62": "R77", "R67": "R75", "R68": "R73", "R69": "R76", "R70": "R76"}
OTHER_RDFI = "091000019"


@dataclass(frozen=True)
class Subject:
    """The entry that an answer is about, as far as answers need it."""

    id: int
    code: str
    rdfi: str
    account: str
    amount: int
    trace: str
    settles_at: datetime
    distributed_at: datetime


@dataclass(frozen=True)
class Answer:
    """Something that a bank will say. `sender` is the first eight digits of its routing number."""

    kind: str
    subject: Subject
    code: str
    sender: str
    due_at: datetime
    posts_at: datetime
    amount: int = 0
    original_trace: str = ""
    family: str = ""
    answers_id: int | None = None
    data: str = "{}"


def planned(script: Script, subject: Subject, terms: Terms) -> list[Answer]:
    """All that will be said about an entry with this script."""
    if script.kind is Kind.RETURN:
        return _returns(script, subject, terms)
    if script.kind is Kind.CHANGE:
        return [_change(script.code, script.family, subject, calendar.plus(_day(subject), 1))]
    if script.kind is Kind.CREDIT and subject.amount:
        return [_credit_from_holder(subject)]
    return []


def by_operator(code: str, subject: Subject) -> Answer:
    """The operator sends an entry back with its next delivery; it settles with the entry."""
    return Answer(
        RETURN,
        subject,
        code,
        OPERATOR,
        due_at=subject.distributed_at,
        posts_at=subject.settles_at,
        amount=subject.amount,
        original_trace=subject.trace,
    )


def returned(code: str, subject: Subject, at: datetime, family: str = "") -> Answer:
    """The account holder's bank sends an entry back."""
    return Answer(
        RETURN,
        subject,
        code,
        subject.rdfi,
        due_at=at,
        posts_at=at,
        amount=subject.amount - (family == "130"),
        original_trace=subject.trace[:8] + "9999999" if family == "140" else subject.trace,
        family=family,
    )


def _returns(script: Script, subject: Subject, terms: Terms) -> list[Answer]:
    if script.is_by_operator:
        return [by_operator(script.code, subject)]
    day = calendar.plus(_day(subject), 1)
    if script.is_late:
        day = _late_day(subject, terms)
    days = [day, calendar.next_open(day)] if script.family == "120" else [day]
    return [returned(script.code, subject, _opening(each), script.family) for each in days]


def _late_day(subject: Subject, terms: Terms) -> date:
    settled = _day(subject)
    if terms.late_return_days:
        return calendar.plus(settled, terms.late_return_days)
    return calendar.consumer_limit(settled)


def _change(code: str, family: str, subject: Subject, day: date) -> Answer:
    at = _opening(day)
    return Answer(
        CHANGE,
        subject,
        code,
        subject.rdfi,
        due_at=at,
        posts_at=at,
        original_trace=subject.trace,
        family=family,
        data=json.dumps({"corrected": corrected(code, family, subject)}),
    )


def corrected(code: str, family: str, subject: Subject) -> str:
    """The corrected data of a change, 29 positions. The account gets a 7 for the first of its last
    five digits, so that it completes."""
    old = subject.account.strip()
    account = f"{old[:-5]}7{old[-4:]}"[:17]
    savings = {"2": "3", "3": "2"}.get(subject.code[0], "2") + subject.code[1]
    if family == "620":
        account, routing, savings = "", "123456789", "99"
    else:
        routing = OTHER_RDFI
    texts = {
        "C01": account.ljust(17),
        "C02": routing,
        "C03": f"{routing}   {account:<17}",
        "C04": "" if family == "620" else "CORRECTED NAME",
        "C05": savings,
        "C06": f"{account:<17}   {savings}",
        "C07": f"{routing}{account:<17}{savings}",
        "C08": routing,
        "C09": "" if family == "620" else "CORRECTED ID",
        "C13": "",
        "C14": "IAT",
    }
    text = texts[code]
    if family == "610":  # as some banks write them: leading blanks, or one blank between the parts
        text = " " + text if " " not in text.strip() else " ".join(text.split())
    return text.ljust(29)[:29]


def _credit_from_holder(subject: Subject) -> Answer:
    at = _opening(calendar.plus(_day(subject), 1))
    data = {"company": "ACCOUNT HOLDER", "company_id": "1555000111", "description": "PAYMENT"}
    return Answer(
        CREDIT,
        subject,
        "22",
        subject.rdfi,
        due_at=at,
        posts_at=at,
        amount=subject.amount,
        data=json.dumps(data),
    )


def keep(db: sqlite3.Connection, answer: Answer) -> int:
    """Write an answer down with what has to be done for it; gives its id."""
    number = store.next_number(db, "answer_trace") % layouts.TRACE_LIMIT
    due_at, posts_at = written(answer.due_at), written(answer.posts_at)
    row = db.execute(
        "INSERT INTO answer (kind, entry_id, answers_id, code, amount, effect, trace,"
        " original_trace, data, family, due_at, posts_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            answer.kind,
            answer.subject.id or None,
            answer.answers_id,
            answer.code,
            answer.amount,
            _effect(answer),
            f"{answer.sender}{number:07}",
            answer.original_trace,
            answer.data,
            answer.family,
            due_at,
            posts_at,
        ),
    ).fetchone()
    store.plan(db, due_at, DELIVER_RANK, "deliver")
    if answer.kind != CHANGE:
        store.plan(db, posts_at, POST_RANK, "post")
    return int(row[0])


def _effect(answer: Answer) -> int:
    """What it does to the customer's account."""
    if answer.kind == CHANGE:
        return 0
    if answer.kind == CREDIT:
        return answer.amount
    is_debit = layouts.answer_code(answer.subject.code) in layouts.DEBITS
    return -answer.amount if is_debit else answer.amount


def subject_of(db: sqlite3.Connection, entry_id: int) -> Subject | None:
    """An entry that was taken before, to say something more about it."""
    row = db.execute("SELECT * FROM entry WHERE id = ?", (entry_id,)).fetchone()
    if row is None or row["settles_at"] is None:
        return None
    settles_at = read(row["settles_at"])
    return Subject(
        id=row["id"],
        code=row["code"],
        rdfi=row["rdfi"],
        account=row["account"],
        amount=row["amount"],
        trace=row["trace"],
        settles_at=settles_at,
        distributed_at=settles_at,
    )


def _day(subject: Subject) -> date:
    return calendar.day_of(subject.settles_at)


def _opening(day: date) -> datetime:
    return calendar.instant(day, calendar.OPENING)
