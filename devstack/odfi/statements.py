"""The statement of a banking day: what was posted between two balances, in two formats."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from devstack.odfi import bai2, camt053
from devstack.odfi.clock import read
from devstack.odfi.terms import Terms, load


@dataclass(frozen=True)
class Posting:
    """A line of the statement. `amount` is negative where money left the account."""

    number: int
    at: datetime
    kind: str
    amount: int
    reference: str
    text: str
    return_code: str


@dataclass(frozen=True)
class Statement:
    day: date
    number: int
    opening: int
    closing: int
    postings: tuple[Posting, ...]

    def total(self, sign: int) -> tuple[int, int]:
        """The sum and the number of the credits (1) or the debits (-1)."""
        amounts = [abs(each.amount) for each in self.postings if each.amount * sign > 0]
        return sum(amounts), len(amounts)


def close(db: sqlite3.Connection, day: date, *, at: datetime) -> Statement:
    """Close the books of a day: what was posted since the day before, up to `at`."""
    opening = opening_of_next(db)
    rows = db.execute(
        "SELECT * FROM posting WHERE day <= ? AND id > coalesce("
        "(SELECT sum(postings) FROM statement), 0) ORDER BY id",
        (day.isoformat(),),
    )
    postings = tuple(
        Posting(
            number=row["id"],
            at=read(row["at"]),
            kind=row["kind"],
            amount=row["amount"],
            reference=row["reference"],
            text=row["text"],
            return_code=row["return_code"],
        )
        for row in rows
    )
    closing = opening + sum(each.amount for each in postings)
    db.execute(
        "INSERT INTO statement VALUES (?, ?, ?, ?)",
        (day.isoformat(), opening, closing, len(postings)),
    )
    number = db.execute("SELECT count(*) FROM statement").fetchone()[0]
    return Statement(day, int(number), opening, closing, postings)


def opening_of_next(db: sqlite3.Connection) -> int:
    """The balance with which the next statement begins, in cents."""
    before = db.execute("SELECT closing FROM statement ORDER BY day DESC LIMIT 1").fetchone()
    return int(before[0]) if before else load(db).opening_balance


def files(statement: Statement, terms: Terms, *, at: datetime) -> Iterator[tuple[str, bytes]]:
    """The name and the content of each format."""
    day = f"{statement.day:%Y%m%d}"
    yield f"bai2_{day}.txt", bai2.write(statement, terms, at=at)
    yield f"camt053_{day}.xml", camt053.write(statement, terms, at=at)
