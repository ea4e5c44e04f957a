"""Takes messages of the participant: one transaction for each, and what it brings about."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType

from devstack.instant import (
    credits,
    envelope,
    outbox,
    payments,
    questions,
    reading,
    requests,
    returns,
    speaking,
    store,
)
from devstack.instant.clock import written
from devstack.instant.envelope import Message
from devstack.instant.payments import Lost
from devstack.instant.profiles import (
    PAYMENT,
    REQUEST,
    RESOLUTION,
    RETURN,
    STATUS,
    STATUS_REQUEST,
)
from devstack.instant.reading import Faulty
from devstack.instant.scripts import Payee
from devstack.instant.speaking import Desk
from devstack.instant.writing import Original

LOST = "lost"


class Outcome(StrEnum):
    """What the sender notices of a message that was taken."""

    ANSWERED = "answered"
    LINE_BREAKS = "line_breaks"


def take(desk: Desk, content: bytes) -> Outcome:
    """Take one message. Raises Unreadable for what is none: that is not taken."""
    message = envelope.read(content, desk.profile)
    message_id = reading.message_id(message)
    known = _known(desk, message_id)
    number = store.insert(
        desk.db,
        "message",
        profile=desk.profile.name,
        direction="in",
        kind=message.kind,
        message_id=message_id,
        at=written(desk.now),
        content=content,
        digest=message.digest,
    )
    if known is not None:
        _repeat(desk, message, number, known)
        return Outcome.ANSWERED
    return _do(desk, message, number)


def _known(desk: Desk, message_id: str) -> sqlite3.Row | None:
    found = desk.db.execute(
        "SELECT * FROM message WHERE profile = ? AND direction = 'in' AND message_id = ?"
        " AND note = '' ORDER BY id LIMIT 1",
        (desk.profile.name, message_id),
    ).fetchone()
    return found if isinstance(found, sqlite3.Row) else None


def _repeat(desk: Desk, message: Message, number: int, known: sqlite3.Row) -> None:
    """A message id that we have. Nothing is done twice, whatever it says."""
    is_same = message.digest == known["digest"]
    _note(desk, number, "repeated" if is_same else "id used again")
    if not desk.profile.repeats:
        text = "this message id was used before"
        speaking.rejection(desk, known["message_id"], "DUPLICATE", text, about=number)
    elif is_same and message.header.is_duplicate:
        _answer_again(desk, message, known["id"])
    else:
        _reject(desk, message, number, "DUPL")


def _answer_again(desk: Desk, message: Message, known: int) -> None:
    """Say once more what was said last; what was settled in silence is said now."""
    said = outbox.answers(desk.db, known)
    if said:
        outbox.again(desk.db, said[-1], now=desk.now)
    elif message.kind == PAYMENT:
        payments.tell(desk, reading.message_id(message), about=known)


def _do(desk: Desk, message: Message, number: int) -> Outcome:
    work = _KINDS.get(message.kind)
    if work is None:
        text = f"{desk.profile.title} takes no {message.kind} from a participant"
        speaking.rejection(desk, message.header.business_id, "UNSUPPORTED", text, about=number)
        return Outcome.ANSWERED
    try:
        return work(desk, message, number)
    except Lost:
        _note(desk, number, LOST)
    except Faulty as fault:
        _note(desk, number, str(fault))
        _reject(desk, message, number, fault.code)
    return Outcome.ANSWERED


def _reject(desk: Desk, message: Message, number: int, code: str) -> None:
    original = Original(
        reading.message_id(message),
        message.kind,
        reading.created_at(message, desk.profile),
        message.body.value("CdtTrfTxInf/PmtId/InstrId") or message.body.value("PmtInf/PmtInfId"),
        message.body.value("CdtTrfTxInf/PmtId/EndToEndId")
        or message.body.value("PmtInf/CdtTrfTx/PmtId/EndToEndId"),
    )
    speaking.status(desk, original, "RJCT", reason=code, about=number)


def _note(desk: Desk, number: int, text: str) -> None:
    desk.db.execute("UPDATE message SET note = ? WHERE id = ?", (text, number))


def _payment(desk: Desk, message: Message, number: int) -> Outcome:
    payee = payments.take(desk, reading.payment(message, desk.profile), number)
    return Outcome.LINE_BREAKS if payee is Payee.LINE_BREAKS else Outcome.ANSWERED


def _request(desk: Desk, message: Message, number: int) -> Outcome:
    requests.take(desk, reading.request(message, desk.profile), number)
    return Outcome.ANSWERED


def _status(desk: Desk, message: Message, number: int) -> Outcome:
    said = reading.status(message, desk.profile)
    if not credits.take_answer(desk, said, number):
        _note(desk, number, "answer to nothing")
    return Outcome.ANSWERED


def _question(desk: Desk, message: Message, number: int) -> Outcome:
    questions.take(desk, reading.question(message, desk.profile), number)
    return Outcome.ANSWERED


def _return(desk: Desk, message: Message, number: int) -> Outcome:
    returns.take(desk, reading.payment_return(message, desk.profile), number)
    return Outcome.ANSWERED


def _resolution(desk: Desk, message: Message, number: int) -> Outcome:
    if not returns.take_resolution(desk, reading.resolution(message, desk.profile)):
        _note(desk, number, "answer to nothing")
    return Outcome.ANSWERED


_KINDS: Mapping[str, Callable[[Desk, Message, int], Outcome]] = MappingProxyType(
    {
        PAYMENT: _payment,
        REQUEST: _request,
        STATUS: _status,
        STATUS_REQUEST: _question,
        RETURN: _return,
        RESOLUTION: _resolution,
    }
)
