"""Payments by the participant: judged, settled once, and answered as the account number says."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from devstack.instant import (
    credits,
    directory,
    outbox,
    positions,
    scripts,
    speaking,
    store,
)
from devstack.instant.clock import written
from devstack.instant.profiles import LIMIT_CENTS, PAYMENT
from devstack.instant.reading import Payment
from devstack.instant.scripts import Payee
from devstack.instant.speaking import Desk

_FIRST_TIME_ONLY = frozenset({Payee.LOST, Payee.TIMES_OUT})


class Lost(Exception):
    """The message does not arrive."""


def take(desk: Desk, payment: Payment, number: int) -> Payee:
    """Judge, settle and answer a payment that is new; gives what its account brought about.
    `number` is its message's. Raises Lost."""
    payee = _payee(desk, payment)
    if payee is Payee.LOST:
        raise Lost
    refusal = _refusal(desk, payment, payee)
    row = _keep(desk, payment)
    if refusal:
        _finish(desk, row["id"], "rejected", "RJCT", refusal)
        tell(desk, payment.message_id, about=number)
        return Payee.REJECTS
    positions.settle(desk.db, row, desk.profile, desk.now)
    _set_code(desk, row["id"], desk.profile.accepted)
    _AFTER_SETTLEMENT[payee](desk, row["id"], number)
    return payee


def tell(desk: Desk, message_id: str, *, about: int | None) -> None:
    """Say to the sender what is true of a payment now."""
    row = desk.db.execute(
        "SELECT * FROM payment WHERE profile = ? AND direction = 'out' AND message_id = ?",
        (desk.profile.name, message_id),
    ).fetchone()
    if row is not None:
        speaking.payment_status(desk, row, about=about)


def _payee(desk: Desk, payment: Payment) -> Payee:
    """What the creditor's bank does; some do it at the first attempt only."""
    payee = scripts.payee_of(payment.creditor.number)
    if payee not in _FIRST_TIME_ONLY:
        return payee
    row = desk.db.execute(
        "INSERT INTO attempt VALUES (?, ?, 1) ON CONFLICT (profile, end_to_end_id)"
        " DO UPDATE SET count = count + 1 RETURNING count",
        (desk.profile.name, payment.end_to_end_id),
    ).fetchone()
    return payee if row[0] == 1 else Payee.TAKES


def _refusal(desk: Desk, payment: Payment, payee: Payee) -> str:
    """Why a payment is rejected; empty if it is not."""
    profile, terms = desk.profile, desk.terms
    age = (desk.now - payment.created_at).total_seconds()
    bank = directory.find(desk.db, profile.name, payment.creditor.routing)
    if payment.debtor.routing != terms.routing:
        return "RC03"
    if age < -terms.future_max:
        return "DT04" if profile.is_rtp else "E999"
    if payee is Payee.TIMES_OUT or (not profile.repeats and age > terms.payment_timeout):
        return profile.timed_out
    if payment.amount > LIMIT_CENTS:
        return "AM02"
    if bank is None:
        return "RC04"
    if not bank.receives_credits:
        return "NOAT" if profile.is_rtp else "AG03"
    if payment.amount > positions.of(desk.db, profile.name, terms.routing):
        return "AM04"
    return scripts.rejection_of(payment.creditor.number, profile) if payee is Payee.REJECTS else ""


def _keep(desk: Desk, payment: Payment) -> sqlite3.Row:
    number = store.insert(
        desk.db,
        "payment",
        profile=desk.profile.name,
        direction="out",
        kind=PAYMENT,
        message_id=payment.message_id,
        created_at=written(payment.created_at),
        instruction_id=payment.instruction_id,
        end_to_end_id=payment.end_to_end_id,
        amount=payment.amount,
        debtor_routing=payment.debtor.routing,
        debtor_account=payment.debtor.number,
        debtor_name=payment.debtor.name,
        creditor_routing=payment.creditor.routing,
        creditor_account=payment.creditor.number,
        creditor_name=payment.creditor.name,
        remittance=payment.remittance,
        status="taken",
        returns_id=credits.returned_by(desk, payment),
    )
    return store.row(desk.db, "payment", number)


def _finish(desk: Desk, number: int, status: str, code: str, reason: str) -> None:
    desk.db.execute(
        "UPDATE payment SET status = ?, code = ?, reason = ? WHERE id = ?",
        (status, code, reason, number),
    )


def _set_code(desk: Desk, number: int, code: str) -> None:
    desk.db.execute("UPDATE payment SET code = ? WHERE id = ?", (code, number))


def _answer(desk: Desk, number: int, message: int) -> None:
    tell(desk, store.row(desk.db, "payment", number)["message_id"], about=message)


def _say_nothing(_desk: Desk, _number: int, _message: int) -> None:
    """The answer is lost; who asks is told."""


def _answer_late(desk: Desk, number: int, message: int) -> None:
    _later(desk, desk.terms.late_seconds, "answer", number, message=message)


def _answer_twice(desk: Desk, number: int, message: int) -> None:
    _answer(desk, number, message)
    outbox.again(desk.db, outbox.answers(desk.db, message)[-1], now=desk.now)


def _post_later(desk: Desk, number: int, message: int) -> None:
    _set_code(desk, number, "ACWP")
    _answer(desk, number, message)
    _later(desk, desk.terms.pending_seconds, "posted", number, message=message)


def _send_back_later(desk: Desk, number: int, message: int) -> None:
    _set_code(desk, number, "ACWP")
    _answer(desk, number, message)
    _later(desk, desk.terms.pending_seconds, "sent_back", number, message=message)


def _answer_out_of_order(desk: Desk, number: int, message: int) -> None:
    """Posted comes before accepted without posting."""
    for code in (posted_code(desk), "ACWP"):
        _set_code(desk, number, code)
        _answer(desk, number, message)
    _set_code(desk, number, posted_code(desk))


def posted_code(desk: Desk) -> str:
    """What is said of a payment that was posted after it was accepted without posting."""
    return "ACTC" if desk.profile.is_rtp else "ACCC"


def answer(desk: Desk, number: int, message: int) -> None:
    """The late answer is due."""
    _answer(desk, number, message)


def posted(desk: Desk, number: int, message: int) -> None:
    """The receiving bank has posted what it had accepted."""
    _set_code(desk, number, posted_code(desk))
    _answer(desk, number, message)


def sent_back(desk: Desk, number: int, message: int) -> None:
    """The receiving bank does not post what it had accepted, and sends the money back."""
    _finish(desk, number, "settled", "RJCT", "AC04")
    _answer(desk, number, message)
    credits.give_back(desk, number, reason="AC04")


def _later(desk: Desk, seconds: float, kind: str, number: int, **data: Any) -> None:
    due_at = written(desk.now + timedelta(seconds=seconds))
    store.plan(desk.db, due_at, kind, number, profile=desk.profile.name, **data)


_AFTER_SETTLEMENT: Mapping[Payee, Callable[[Desk, int, int], None]] = MappingProxyType(
    {
        Payee.TAKES: _answer,
        Payee.LINE_BREAKS: _answer,
        Payee.SILENT: _say_nothing,
        Payee.POSTS_LATER: _post_later,
        Payee.SENDS_BACK: _send_back_later,
        Payee.LATE: _answer_late,
        Payee.TWICE: _answer_twice,
        Payee.OUT_OF_ORDER: _answer_out_of_order,
    }
)
