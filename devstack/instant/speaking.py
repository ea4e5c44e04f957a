"""Puts messages to the participant into the outbox: ids, headers, envelopes."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from devstack.instant import envelope, faults, outbox, writing
from devstack.instant.envelope import Header
from devstack.instant.profiles import (
    PAYMENT,
    REJECTION,
    REQUEST_ANSWER,
    RETURN,
    RETURN_REQUEST,
    STATUS,
    Profile,
)
from devstack.instant.terms import Terms
from devstack.instant.writing import Original
from devstack.instant.xml import Fields


@dataclass(frozen=True)
class Desk:
    """What a message is made and answered with: one network at one instant."""

    db: sqlite3.Connection
    profile: Profile
    terms: Terms
    now: datetime

    def new_message_id(self, routing: str = "") -> str:
        """An id of ours, or of the bank with this routing number."""
        sender = routing or self.profile.operator_id[:9]
        return self.profile.message_id(sender, outbox.number(self.db), self.now)


def status(
    desk: Desk,
    original: Original,
    code: str,
    *,
    reason: str = "",
    day: str = "",
    about: int | None = None,
) -> int:
    """Tell the participant what became of a message (pacs.002), and on which day it was settled;
    gives the message's id here."""
    if faults.strike(desk.db, "lose_answer") is not None:
        return 0
    message_id = desk.new_message_id()
    body = writing.status(
        desk.profile,
        message_id,
        original,
        code,
        reason=reason,
        day=day,
        at=desk.now,
        routing=desk.terms.routing,
    )
    return _send(desk, STATUS, message_id, body, about=about)


def payment_status(desk: Desk, row: sqlite3.Row, *, about: int | None) -> int:
    """Tell the participant what is true of a payment now."""
    return status(
        desk,
        writing.original_of(row),
        row["code"],
        reason=row["reason"] if row["code"] == "RJCT" else "",
        day=row["cycle_day"] or "",
        about=about,
    )


def request_answer(desk: Desk, request: sqlite3.Row, code: str, *, reason: str = "") -> int:
    """What a payer's bank says to a request (pain.014)."""
    message_id = desk.new_message_id(request["debtor_routing"])
    body = writing.request_answer(
        desk.profile, message_id, request, code, reason=reason, at=desk.now
    )
    return _send(desk, REQUEST_ANSWER, message_id, body, routing=request["debtor_routing"])


def payment(desk: Desk, row: sqlite3.Row, *, gives_back: str = "") -> int:
    """A payment to the participant (pacs.008), or one given back to it."""
    body = writing.payment(desk.profile, row, gives_back=gives_back)
    return _send(desk, PAYMENT, row["message_id"], body, routing=row["debtor_routing"])


def payment_return(desk: Desk, row: sqlite3.Row, original: sqlite3.Row) -> int:
    """A payment of the participant's given back (pacs.004)."""
    body = writing.payment_return(desk.profile, row, original)
    return _send(desk, RETURN, row["message_id"], body, routing=row["debtor_routing"])


def return_request(desk: Desk, row: sqlite3.Row, *, reason: str) -> str:
    """Ask the participant to return a payment (camt.056); gives the message id, which names the
    case."""
    message_id = desk.new_message_id(row["debtor_routing"])
    body = writing.return_request(desk.profile, message_id, row, reason=reason, at=desk.now)
    _send(desk, RETURN_REQUEST, message_id, body, routing=row["debtor_routing"])
    return message_id


def rejection(
    desk: Desk, reference: str, reason: str, text: str, *, about: int | None = None
) -> int:
    """Refuse a message as such (admi.002)."""
    body = writing.rejection(desk.profile, reference, reason, text, at=desk.now)
    return _send(desk, REJECTION, desk.new_message_id(), body, about=about)


def _send(
    desk: Desk,
    kind: str,
    message_id: str,
    body: Fields,
    *,
    routing: str = "",
    about: int | None = None,
) -> int:
    profile = desk.profile
    header = Header(
        sender=profile.participant_id(routing) if routing else profile.operator_id,
        receiver=profile.participant_id(desk.terms.routing),
        business_id=profile.business_id(message_id),
        name=profile.full_name(kind),
        created_at=desk.now,
    )
    content = envelope.write(kind, body, header, profile)
    return outbox.put(desk.db, profile, kind, message_id, content, about=about, now=desk.now)
