"""Movements in words: with whom, what for, what has become of it, and what it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField

from balance.kinds import PostingType
from balance.movements import Movement
from common.engine.compiled_rows import Rows
from dashboard.funding.lines import funding_line
from dashboard.payments.lines import payment_line
from dashboard.shell.badges import Badge
from dashboard.shell.stops import Stops
from dashboard.statement.lines import NOBODY, OtherSide, cause_page, other_sides
from dashboard.templatetags.ballast import money
from funding import selectors as funding
from payments import selectors as payments

_POSTED = Badge("Posted")
_COMPLETED = Badge("Completed", "good")
_RETURNED = Badge("Returned", "bad")
_RELEASED = Badge("Released")

# What the ledger itself knows of a movement, which no later change alters.
_BOOKED = {
    ("funding_transaction", PostingType.CREDIT): _COMPLETED,
    ("funding_transaction", PostingType.DEBIT): _RETURNED,
    ("payment", PostingType.CREDIT): _RETURNED,
}
_ENDED = {
    None: Badge("Set aside"),
    PostingType.SETTLEMENT: _COMPLETED,
    PostingType.UNLOCK: _RELEASED,
}

# Beside its status, half of what the ledger says is enough.
_SHORTER = {"Funding completed": "Funding"}


@dataclass(frozen=True)
class MovementLine:
    """One movement. `change` is what it did to the available balance, in cents; `hint` says what
    the amount cannot. `who` is the other side, empty if there is none; `what_for` is what the
    tenant wrote about it, `note` why it failed. `href` leads to what caused it, where that has a
    page; `at` is when its first line was made."""

    href: str
    who: str
    what: str
    what_for: str
    note: str
    badge: Badge
    change: int
    hint: str
    at: datetime


@dataclass(frozen=True)
class _Cause:
    """What is known of the funding or the payment behind a movement."""

    side: OtherSide
    badge: Badge
    note: str = ""


_UNKNOWN = _Cause(NOBODY, _POSTED)


def as_of_now(*, tenant_id: str, rows: Sequence[Movement], stopped: Stops) -> list[MovementLine]:
    """Movements with the present status of each; `stopped` is what is not sent now. Two queries at
    most."""
    sources = {row.first["source_id"] for row in rows}
    causes = _causes(tenant_id, sources, is_stopped=bool(stopped.payments))
    return [_line(row, causes.get(row.first["source_id"], _UNKNOWN)) for row in rows]


def as_booked(*, tenant_id: str, rows: Sequence[Movement]) -> list[MovementLine]:
    """Movements with what the ledger had of each when their span was over: a statement stays as it
    is. One query."""
    sides = other_sides(tenant_id, {row.first["source_id"] for row in rows})
    return [
        _line(row, _Cause(sides.get(row.first["source_id"], NOBODY), _booked(row))) for row in rows
    ]


def _booked(row: Movement) -> Badge:
    if row.type in (PostingType.LOCK, PostingType.UNLOCK):
        return _ENDED[row.end]
    return _BOOKED.get((row.first["source_type"], row.type), _POSTED)


def _causes(tenant_id: str, sources: set[str], *, is_stopped: bool) -> Mapping[str, _Cause]:
    added, paid_out = _with("ftx", sources), _with("pay", sources)
    fundings = _FUNDINGS.read(tenant_id=tenant_id, funding_ids=added) if added else ()
    paid = _PAYMENTS.read(tenant_id=tenant_id, payment_ids=paid_out) if paid_out else ()
    found = {}
    for debited in fundings:
        came = funding_line(debited)
        side = OtherSide(came.source, debited.description)
        found[debited.pk] = _Cause(side, came.badge, came.note)
    for payment in paid:
        went = payment_line(payment, is_stopped=is_stopped)
        side = OtherSide(went.to, payment.description)
        found[payment.pk] = _Cause(side, went.badge, went.note)
    return found


_IDS = ArrayField(CharField())
_FUNDINGS = Rows(funding.known_by_ids, tenant_id=CharField(), funding_ids=_IDS)
_PAYMENTS = Rows(payments.known_by_ids, tenant_id=CharField(), payment_ids=_IDS)


def _with(prefix: str, sources: set[str]) -> list[str]:
    return [source for source in sources if source.startswith(f"{prefix}_")]


def _line(row: Movement, cause: _Cause) -> MovementLine:
    first = row.first
    return MovementLine(
        href=cause_page(*_source(row)),
        who=cause.side.who,
        what=_SHORTER.get(first["description"], first["description"]) or row.type.label,
        what_for=cause.side.what_for,
        note=cause.note,
        badge=cause.badge,
        change=row.available_delta,
        hint=_hint(row),
        at=first["created_at"],
    )


def _source(row: Movement) -> tuple[str, str]:
    return row.first["source_type"], row.first["source_id"]


def _hint(row: Movement) -> str:
    """Of money that was set aside, what the change of the available balance does not say."""
    if row.type == PostingType.UNLOCK:
        return "released"
    if row.type == PostingType.LOCK and row.end is None:
        return "set aside"
    if row.type == PostingType.LOCK and row.end == PostingType.UNLOCK:
        return f"{money(row.first['amount'])} set aside and released"
    return ""
