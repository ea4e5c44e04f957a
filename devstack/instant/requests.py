"""Requests for payment: delivered to the payer's bank, answered there, paid."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType

from devstack.instant import credits, directory, scripts, speaking, store
from devstack.instant.clock import read, written
from devstack.instant.credits import Credit
from devstack.instant.profiles import REQUEST
from devstack.instant.reading import Account, Request
from devstack.instant.scripts import Payer
from devstack.instant.speaking import Desk
from devstack.instant.writing import Original

SHORT_CENTS = 1
AFTER_EXPIRY = timedelta(seconds=1)
REFUSED_BY_CUSTOMER, REFUSED_BY_BANK = "CUST", "AC06"


class NotOpen(ValueError):
    """A request that nobody can answer any more."""


def take(desk: Desk, request: Request, number: int) -> None:
    """Deliver a request that is new to the payer's bank, where its account decides what happens."""
    if refusal := _refusal(desk, request):
        original = Original(
            request.message_id,
            REQUEST,
            request.created_at,
            request.payment_information_id,
            request.end_to_end_id,
        )
        speaking.status(desk, original, "RJCT", reason=refusal, about=number)
        return
    row = _keep(desk, request)
    payer = scripts.payer_of(request.debtor.number)
    if not desk.profile.is_rtp and payer not in {Payer.SILENT, Payer.PAYS_UNANSWERED}:
        speaking.request_answer(desk, row, "RCVD")
    _PAYERS[payer](desk, row)


def show(desk: Desk, row: sqlite3.Row) -> None:
    """The payer has seen a request: FedNow tells so, once."""
    if row["status"] != "waiting":
        return
    desk.db.execute("UPDATE request SET status = 'shown' WHERE id = ?", (row["id"],))
    if not desk.profile.is_rtp:
        speaking.request_answer(desk, row, "PRES")


def approve(desk: Desk, row: sqlite3.Row, *, amount: int | None = None) -> int:
    """The payer approves: that is answered, and the money is sent. Raises NotOpen."""
    require_open(row, desk)
    return _pay(desk, row, amount=amount)


def refuse(desk: Desk, row: sqlite3.Row, *, code: str = REFUSED_BY_CUSTOMER) -> None:
    """The payer refuses. Raises NotOpen."""
    require_open(row, desk)
    _refuse(desk, row, code)


def pay_late(desk: Desk, number: int) -> None:
    """The request has expired, and the payer's bank pays nevertheless."""
    _pay(desk, store.row(desk.db, "request", number), is_answered=False)


def require_open(row: sqlite3.Row, desk: Desk) -> None:
    """Raises NotOpen unless the request can be answered."""
    if row["status"] not in {"waiting", "shown"}:
        raise NotOpen(f"this request is {row['status']}")
    if read(row["expires_at"]) <= desk.now:
        raise NotOpen(f"this request expired at {row['expires_at']}")


def _refusal(desk: Desk, request: Request) -> str:
    """Why the network does not deliver a request; empty if it does."""
    bank = directory.find(desk.db, desk.profile.name, request.debtor.routing)
    if request.creditor.routing != desk.terms.routing:
        return "RC04"
    if bank is None:
        return "RC03"
    if not bank.receives_requests:
        return "NOAT" if desk.profile.is_rtp else "AG03"
    if request.expires_at <= desk.now:
        return "DT01"
    return ""


def _keep(desk: Desk, request: Request) -> sqlite3.Row:
    number = store.insert(
        desk.db,
        "request",
        profile=desk.profile.name,
        message_id=request.message_id,
        created_at=written(request.created_at),
        payment_information_id=request.payment_information_id,
        end_to_end_id=request.end_to_end_id,
        requested_day=request.requested_day,
        amount=request.amount,
        expires_at=written(request.expires_at),
        debtor_routing=request.debtor.routing,
        debtor_account=request.debtor.number,
        debtor_name=request.debtor.name,
        creditor_routing=request.creditor.routing,
        creditor_account=request.creditor.number,
        creditor_name=request.creditor.name,
        remittance=request.remittance,
        status="waiting",
    )
    return store.row(desk.db, "request", number)


def _pay(
    desk: Desk,
    row: sqlite3.Row,
    *,
    amount: int | None = None,
    creditor_account: str = "",
    is_answered: bool = True,
) -> int:
    """Answer the request, unless that is to be left out, and send the money."""
    if is_answered:
        speaking.request_answer(desk, row, "ACTC")
    _decide(desk, row, "approved")
    credit = Credit(
        amount=amount or row["amount"],
        debtor=_side(row, "debtor"),
        creditor=Account(
            row["creditor_routing"],
            creditor_account or row["creditor_account"],
            row["creditor_name"],
        ),
        end_to_end_id=row["end_to_end_id"],
        remittance=row["remittance"],
        request_id=row["id"],
    )
    return credits.send(desk, credit)


def _refuse(desk: Desk, row: sqlite3.Row, code: str) -> None:
    speaking.request_answer(desk, row, "RJCT", reason=code)
    _decide(desk, row, "refused", code)


def _decide(desk: Desk, row: sqlite3.Row, status: str, reason: str = "") -> None:
    desk.db.execute(
        "UPDATE request SET status = ?, reason = ?, decided_at = ? WHERE id = ?",
        (status, reason, written(desk.now), row["id"]),
    )


def _side(row: sqlite3.Row, side: str) -> Account:
    return Account(row[f"{side}_routing"], row[f"{side}_account"], row[f"{side}_name"])


def _wait(_desk: Desk, _row: sqlite3.Row) -> None:
    """A person decides, or nobody."""


def _pay_now(desk: Desk, row: sqlite3.Row) -> None:
    _pay(desk, row)


def _pay_short(desk: Desk, row: sqlite3.Row) -> None:
    _pay(desk, row, amount=row["amount"] - SHORT_CENTS)


def _pay_twice(desk: Desk, row: sqlite3.Row) -> None:
    _pay(desk, row)
    _pay(desk, row, is_answered=False)


def _pay_after_expiry(desk: Desk, row: sqlite3.Row) -> None:
    """The approval comes in time, the money does not."""
    speaking.request_answer(desk, row, "ACTC")
    _decide(desk, row, "approved")
    due_at = written(read(row["expires_at"]) + AFTER_EXPIRY)
    store.plan(desk.db, due_at, "pay_late", row["id"], profile=desk.profile.name)


def _pay_unanswered(desk: Desk, row: sqlite3.Row) -> None:
    _pay(desk, row, is_answered=False)


def _pay_elsewhere(desk: Desk, row: sqlite3.Row) -> None:
    """To an account whose last digit is another one."""
    number = row["creditor_account"]
    _pay(desk, row, creditor_account=f"{number[:-1]}{(int(number[-1]) + 1) % 10}")


def _refuse_now(desk: Desk, row: sqlite3.Row) -> None:
    _refuse(desk, row, REFUSED_BY_CUSTOMER)


def _block(desk: Desk, row: sqlite3.Row) -> None:
    _refuse(desk, row, REFUSED_BY_BANK)


_PAYERS: Mapping[Payer, Callable[[Desk, sqlite3.Row], None]] = MappingProxyType(
    {
        Payer.WAITS: _wait,
        Payer.SILENT: _wait,
        Payer.PAYS: _pay_now,
        Payer.PAYS_SHORT: _pay_short,
        Payer.PAYS_TWICE: _pay_twice,
        Payer.PAYS_LATE: _pay_after_expiry,
        Payer.PAYS_UNANSWERED: _pay_unanswered,
        Payer.PAYS_ELSEWHERE: _pay_elsewhere,
        Payer.REFUSES: _refuse_now,
        Payer.BLOCKED: _block,
    }
)
