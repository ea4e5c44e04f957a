"""What people (and tests) let the banks behind the operator do."""

from __future__ import annotations

import sqlite3

from devstack.instant import credits, directory, outbox, requests, returns, store
from devstack.instant.credits import Credit
from devstack.instant.profiles import PROFILES, Profile
from devstack.instant.reading import Account
from devstack.instant.speaking import Desk

PAYER = Account("021000021", "7700012345", "AVA STONE")


class Refused(ValueError):
    """A command that makes no sense; the text says why."""


def profile_of(name: str) -> Profile:
    """Raises Refused."""
    if name not in PROFILES:
        raise Refused(f"there is no network {name!r}: {', '.join(PROFILES)}")
    return PROFILES[name]


def require_participant(desk: Desk, routing: str) -> None:
    """Raises Refused for a bank that takes no part in the network."""
    if directory.find(desk.db, desk.profile.name, routing) is None:
        raise Refused(f"{routing} takes no part in {desk.profile.title}")


def pay(
    desk: Desk,
    *,
    amount: int,
    end_to_end_id: str = "",
    account: str = "",
    payer: Account = PAYER,
    remittance: str = "",
) -> int:
    """Send money that nobody asked for, or that names whatever it likes; gives the payment."""
    if amount <= 0:
        raise Refused("an amount is positive cents")
    require_participant(desk, payer.routing)
    terms = desk.terms
    ours = account or terms.account(desk.profile.name)
    credit = Credit(
        amount=amount,
        debtor=payer,
        creditor=Account(terms.routing, ours, terms.customer_name),
        end_to_end_id=end_to_end_id or f"UNASKED{outbox.number(desk.db)}",
        remittance=remittance,
    )
    return credits.send(desk, credit)


def answer(
    desk: Desk, request: sqlite3.Row, *, approve: bool, amount: int | None, code: str
) -> None:
    """The payer approves a request or refuses it. Raises Refused."""
    try:
        if approve:
            requests.approve(desk, request, amount=amount)
        else:
            requests.refuse(desk, request, code=code or requests.REFUSED_BY_CUSTOMER)
    except requests.NotOpen as problem:
        raise Refused(str(problem)) from None


def give_back(desk: Desk, payment: sqlite3.Row, *, code: str, amount: int | None) -> int:
    """The receiving bank returns a payment of the participant's. Raises Refused."""
    if payment["direction"] != "out" or payment["settled_at"] is None:
        raise Refused("only a settled payment of the participant's can be given back")
    return credits.give_back(desk, payment["id"], reason=code, amount=amount)


def ask_back(desk: Desk, payment: sqlite3.Row, *, code: str) -> int:
    """A payer's bank asks for a payment to be returned. Raises Refused."""
    try:
        return returns.ask(desk, payment["id"], reason=code)
    except returns.NotSettled as problem:
        raise Refused(str(problem)) from None


def one_request(db: sqlite3.Connection, *, request: int, end_to_end_id: str) -> sqlite3.Row:
    """The request with an id of ours or of the participant's. Raises Refused."""
    return _one(db, "request", request, end_to_end_id)


def one_payment(db: sqlite3.Connection, *, payment: int, end_to_end_id: str) -> sqlite3.Row:
    """Raises Refused."""
    return _one(db, "payment", payment, end_to_end_id)


def _one(db: sqlite3.Connection, table: str, number: int, end_to_end_id: str) -> sqlite3.Row:
    found = db.execute(
        f"SELECT id FROM {table} WHERE id = ? OR (? != '' AND end_to_end_id = ?)"  # noqa: S608
        " ORDER BY id LIMIT 1",
        (number, end_to_end_id, end_to_end_id),
    ).fetchone()
    if found is None:
        raise Refused(f"there is no such {table}: give its number or its end_to_end_id")
    return store.row(db, table, found[0])
