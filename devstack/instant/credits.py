"""Payments to the participant: sent, answered by it, settled once, advised."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import timedelta

from devstack.instant import positions, speaking, store
from devstack.instant.clock import written
from devstack.instant.profiles import PAYMENT, RETURN
from devstack.instant.reading import Account, Payment, Status
from devstack.instant.speaking import Desk

ACCEPTS = frozenset({"ACTC", "ACWP"})


@dataclass(frozen=True)
class Credit:
    """Money that a payer's bank sends."""

    amount: int
    debtor: Account
    creditor: Account
    end_to_end_id: str
    remittance: str = ""
    request_id: int | None = None


def send(desk: Desk, credit: Credit) -> int:
    """Send a payment to the participant, who has some seconds to answer; gives its id."""
    row = _keep(desk, credit, kind=PAYMENT)
    speaking.payment(desk, row)
    _wait(desk, row["id"])
    return int(row["id"])


def give_back(desk: Desk, number: int, *, reason: str, amount: int | None = None) -> int:
    """The receiving bank returns a payment of the participant's: by a message of its own (FedNow),
    which settles at once, or by a new payment that names the first one (RTP), which is answered as
    any other is."""
    original = store.row(desk.db, "payment", number)
    serial = f"BACK{store.next_number(desk.db, 'id')}"
    credit = Credit(
        amount=amount or original["amount"],
        debtor=_side(original, "creditor"),
        creditor=_side(original, "debtor"),
        end_to_end_id=serial if desk.profile.is_rtp else original["end_to_end_id"],
    )
    kind = PAYMENT if desk.profile.is_rtp else RETURN
    row = _keep(desk, credit, kind=kind, returns_id=number, reason=reason)
    if desk.profile.is_rtp:
        speaking.payment(desk, row, gives_back=original["end_to_end_id"])
        _wait(desk, row["id"])
    else:
        speaking.payment_return(desk, row, original)
        _settle(desk, row)
    return int(row["id"])


def take_answer(desk: Desk, said: Status, number: int) -> bool:
    """What the participant says to a payment to it; whether there is such a payment. The first
    answer counts. Each is told what became of the payment."""
    row = desk.db.execute(
        "SELECT * FROM payment WHERE profile = ? AND direction = 'in' AND message_id = ?",
        (desk.profile.name, said.original_message_id),
    ).fetchone()
    if row is None:
        return False
    if row["status"] == "waiting":
        if said.status in ACCEPTS:
            _settle(desk, row)
        else:
            _reject(desk, row, said.reason or "NARR")
    _advise(desk, row["id"], about=number)
    return True


def lapse(desk: Desk, number: int) -> None:
    """The participant's time to answer is over: nothing moves."""
    row = store.row(desk.db, "payment", number)
    if row["status"] == "waiting":
        _reject(desk, row, desk.profile.timed_out)
        _advise(desk, number, about=None)


def returned_by(desk: Desk, payment: Payment) -> int | None:
    """The payment to the participant that this one of its own gives back, if it names one (RTP)."""
    if not payment.gives_back:
        return None
    row = desk.db.execute(
        "SELECT id FROM payment WHERE profile = ? AND direction = 'in' AND end_to_end_id = ?"
        " AND settled_at IS NOT NULL AND debtor_account = ? ORDER BY id LIMIT 1",
        (desk.profile.name, payment.gives_back, payment.creditor.number),
    ).fetchone()
    return int(row[0]) if row else None


def _keep(
    desk: Desk, credit: Credit, *, kind: str, returns_id: int | None = None, reason: str = ""
) -> sqlite3.Row:
    serial = store.next_number(desk.db, "id")
    profile, routing = desk.profile, credit.debtor.routing
    number = store.insert(
        desk.db,
        "payment",
        profile=profile.name,
        direction="in",
        kind=kind,
        message_id=profile.message_id(routing, serial, desk.now),
        created_at=written(desk.now),
        instruction_id=profile.instruction_id(routing, serial, desk.now),
        end_to_end_id=credit.end_to_end_id,
        amount=credit.amount,
        debtor_routing=credit.debtor.routing,
        debtor_account=credit.debtor.number,
        debtor_name=credit.debtor.name,
        creditor_routing=credit.creditor.routing,
        creditor_account=credit.creditor.number,
        creditor_name=credit.creditor.name,
        remittance=credit.remittance,
        status="waiting",
        reason=reason,
        request_id=credit.request_id,
        returns_id=returns_id,
    )
    return store.row(desk.db, "payment", number)


def _wait(desk: Desk, number: int) -> None:
    due_at = written(desk.now + timedelta(seconds=desk.terms.answers_lapse))
    store.plan(desk.db, due_at, "lapse", number, profile=desk.profile.name)


def _settle(desk: Desk, row: sqlite3.Row) -> None:
    positions.settle(desk.db, row, desk.profile, desk.now)
    desk.db.execute("UPDATE payment SET code = ? WHERE id = ?", (desk.profile.accepted, row["id"]))
    if row["request_id"] is not None:
        desk.db.execute("UPDATE request SET status = 'paid' WHERE id = ?", (row["request_id"],))


def _reject(desk: Desk, row: sqlite3.Row, reason: str) -> None:
    desk.db.execute(
        "UPDATE payment SET status = 'rejected', code = 'RJCT', reason = ? WHERE id = ?",
        (reason, row["id"]),
    )
    if row["request_id"] is not None:
        desk.db.execute(
            "UPDATE request SET status = 'not_taken', reason = ? WHERE id = ?",
            (reason, row["request_id"]),
        )


def _advise(desk: Desk, number: int, *, about: int | None) -> None:
    """Tell the participant what became of a payment to it."""
    speaking.payment_status(desk, store.row(desk.db, "payment", number), about=about)


def _side(payment: sqlite3.Row, side: str) -> Account:
    return Account(payment[f"{side}_routing"], payment[f"{side}_account"], payment[f"{side}_name"])
