"""Builds the NACHA files that the customer gets: returns, changes, credits from outside."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from string import ascii_uppercase, digits
from typing import Any

from devstack.odfi import answers, calendar, layouts, sending, store
from devstack.odfi.clock import read, written
from devstack.odfi.layouts import Totals
from devstack.odfi.terms import Terms

FOLDER = "inbound"
MODIFIERS = ascii_uppercase + digits
KINDS = {
    "returns": (answers.RETURN, answers.CONTEST),
    "changes": (answers.CHANGE, answers.CHANGE),
    "credits": (answers.CREDIT, answers.CREDIT),
}


def deliver(db: sqlite3.Connection, terms: Terms, *, at: datetime) -> None:
    """Make the files of all answers that are due at an instant, one file for each kind."""
    for label, kinds in KINDS.items():
        rows = db.execute(
            "SELECT answer.*, entry.batch_id, entry.code AS entry_code, entry.rdfi,"
            " entry.account, entry.individual_id, entry.name, entry.discretionary,"
            " entry.settles_at, batch.header"
            " FROM answer LEFT JOIN entry ON entry.id = entry_id"
            " LEFT JOIN batch ON batch.id = batch_id"
            " WHERE due_at = ? AND answer.kind IN (?, ?) AND answer.file_id IS NULL"
            " ORDER BY batch_id, substr(answer.trace, 1, 8), posts_at, answer.id",
            (written(at), *kinds),
        ).fetchall()
        if rows:
            _send(db, terms, label, rows, at)


def _send(
    db: sqlite3.Connection, terms: Terms, label: str, rows: list[sqlite3.Row], at: datetime
) -> None:
    here = calendar.local(at)
    number = store.next_number(db, f"inbound {here:%Y%m%d}")
    out = _Writer()
    out.add(
        layouts.FILE_HEADER.write(
            destination=terms.customer_id.rjust(10),
            origin=terms.routing.rjust(10),
            date=f"{here:%y%m%d}",
            time=f"{here:%H%M}",
            modifier=MODIFIERS[(number - 1) % len(MODIFIERS)],
            record_size="094",
            blocking="10",
            format="1",
            destination_name=terms.customer_name,
            origin_name=terms.bank_name,
        )
    )
    for _, group in itertools.groupby(rows, key=_batch_key):
        out.batch(list(group), terms)
    name = f"{label}_{here:%Y%m%d_%H%M%S}_{number:04}.ach"
    file_id = sending.keep(db, FOLDER, name, out.finished(), now=at)
    db.executemany(
        "UPDATE answer SET file_id = ? WHERE id = ?", [(file_id, row["id"]) for row in rows]
    )


def _batch_key(row: sqlite3.Row) -> tuple[Any, ...]:
    """Answers that share a batch: of one original batch, from one bank, settled together. Credits
    from outside have a batch each."""
    if row["kind"] == answers.CREDIT:
        return (row["id"],)
    return row["batch_id"], row["trace"][:8], row["posts_at"]


@dataclass
class _Writer:
    """Collects the records of one file and keeps its totals."""

    records: list[str] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    batches: int = 0

    def add(self, record: str) -> None:
        self.records.append(record)

    def batch(self, rows: list[sqlite3.Row], terms: Terms) -> None:
        self.batches += 1
        first, number = rows[0], f"{self.batches:07}"
        header = _header(first, terms) | {"odfi": first["trace"][:8], "number": number}
        self.add(layouts.BATCH_HEADER.write(**header))
        totals = Totals()
        for row in rows:
            records = list(_entry(row, terms))
            self.records += records
            totals.add(_totals(records))
        shared = {name: header[name] for name in ("service_class", "company_id", "odfi", "number")}
        self.add(layouts.BATCH_CONTROL.write(**shared, **_written_totals(totals)))
        self.totals.add(totals)

    def finished(self) -> bytes:
        """The file with its control record and its padding."""
        blocks = -(-(len(self.records) + 1) // layouts.BLOCK)
        self.add(
            layouts.FILE_CONTROL.write(
                batches=self.batches, blocks=blocks, **_written_totals(self.totals)
            )
        )
        self.records += [layouts.PADDING] * (blocks * layouts.BLOCK - len(self.records))
        return "".join(f"{record}\n" for record in self.records).encode("ascii")


def _written_totals(totals: Totals) -> dict[str, int]:
    return {
        "count": totals.count,
        "hash": totals.hash % layouts.HASH_LIMIT,
        "debit": totals.debit,
        "credit": totals.credit,
    }


def _totals(records: Iterable[str]) -> Totals:
    entry, *addenda = records
    amount, is_debit = int(entry[29:39]), entry[1:3] in layouts.DEBITS
    return Totals(
        count=1 + len(addenda),
        hash=int(entry[3:11]),
        debit=amount if is_debit else 0,
        credit=0 if is_debit else amount,
    )


def _header(row: sqlite3.Row, terms: Terms) -> dict[str, str]:
    """The header of the batch that the answers are about, as their sender writes it."""
    settled = calendar.julian(calendar.day_of(read(row["posts_at"])))
    if row["kind"] == answers.CREDIT:
        data = json.loads(row["data"])
        return {
            "service_class": "220",
            "company_name": data["company"],
            "company_id": data["company_id"],
            "sec": "CCD",
            "description": data["description"],
            "effective": f"{calendar.local(read(row['posts_at'])):%y%m%d}",
            "settlement": settled,
            "status": "1",
        }
    copied: dict[str, str] = json.loads(row["header"])
    del copied["odfi"], copied["number"]
    own = {"settlement": settled, "status": "1"}
    return copied | own | ({"sec": "COR"} if row["kind"] == answers.CHANGE else {})


def _entry(row: sqlite3.Row, terms: Terms) -> Iterator[str]:
    if row["kind"] == answers.CREDIT:
        yield _credit(row, terms)
        return
    yield layouts.ENTRY.write(
        code=layouts.answer_code(row["entry_code"]),
        rdfi=terms.odfi,
        check=terms.routing[8],
        account=row["account"],
        amount=row["amount"],
        individual_id=row["individual_id"],
        name=row["name"],
        discretionary=row["discretionary"],
        addenda="1",
        trace=row["trace"],
    )
    yield _addenda(row)


def _credit(row: sqlite3.Row, terms: Terms) -> str:
    data = json.loads(row["data"])
    return layouts.ENTRY.write(
        code="22",
        rdfi=terms.odfi,
        check=terms.routing[8],
        account=terms.settlement_account,
        amount=row["amount"],
        individual_id=data.get("individual_id", ""),
        name=data.get("name", terms.customer_name),
        addenda="0",
        trace=row["trace"],
    )


def _addenda(row: sqlite3.Row) -> str:
    data = json.loads(row["data"])
    shared = {
        "code": row["code"],
        "original_trace": row["original_trace"],
        "original_rdfi": row["rdfi"],
        "trace": row["trace"],
    }
    if row["kind"] == answers.CHANGE:
        return layouts.CHANGE.write(corrected=data["corrected"], **shared)
    if row["kind"] == answers.CONTEST:
        settled = calendar.julian(calendar.day_of(read(row["settles_at"])))
        return layouts.CONTESTED.write(original_settlement=settled, **shared, **data)
    if row["code"] in {"R14", "R15"}:
        data["death"] = f"{calendar.local(read(row['settles_at'])):%y%m%d}"
    return layouts.RETURN.write(**shared, **data)
