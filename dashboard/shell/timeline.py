"""Who did something, and the course of a transfer, as its own page and the audit log show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType

from common import brand, days
from funding.models import FundingTransaction
from networks import return_codes
from networks.base import EventKind
from networks.return_codes import ReturnCode
from payments.models import Payment
from tenants.models import ActorType
from transfers import corrections, dishonors
from transfers.inbox import telling
from transfers.inbox.models import InboundEvent

NETWORK = "The payment network"

# What it was, and what it means for whoever reads it.
_NOTES = MappingProxyType(
    {
        EventKind.RESCHEDULED: (
            "Expected later",
            "The banks settle it on a later day than was planned.",
        ),
        EventKind.CORRECTED: (
            "Details were corrected by the bank",
            ": from now on the account is used as its bank says. This transfer is not affected.",
        ),
        EventKind.RETURN_DISHONORED: (
            "Our bank does not accept the return",
            "The banks settle this between them.",
        ),
        EventKind.RETURN_CONTESTED: (
            "The other bank stands by its return",
            "The return is final.",
        ),
    }
)

_NOT_ACCEPTED = _NOTES[EventKind.RETURN_DISHONORED][0]
# What a dishonored return did to the balance, by the direction of its transfer.
_COUNTED = {"in": "Its money was credited to your balance", "out": "Your balance was debited again"}
_UNDONE = {"in": "Your balance was debited again", "out": "Its money was credited to your balance"}


@dataclass(frozen=True)
class Step:
    """One change of status: what, who, when, why."""

    what: str
    who: str
    why: str
    at: datetime


@dataclass(frozen=True)
class BankAnswer:
    """Why the bank or the network gave the money back, and what to do about it."""

    code: str
    title: str
    meaning: str
    advice: str


def who(kind: str, actor_id: str, names: Mapping[str, str]) -> str:
    """The actor's name; our own staff appear as staff, never by name."""
    match ActorType(kind):
        case ActorType.STAFF:
            return brand.support()
        case ActorType.SYSTEM:
            return brand.name()
        case ActorType.NETWORK:
            return NETWORK
    return names.get(actor_id, actor_id)


def with_bank_notes(
    steps: Sequence[Step], row: FundingTransaction | Payment, expected_on: Callable[[date], date]
) -> list[Step]:
    """The steps of a transfer, and between them what banks said without moving it. `expected_on`:
    when money has arrived for good that settles on a day. One query, and one more where our bank
    did not accept a return."""
    notes = [_note(event, expected_on) for event in telling.besides(row.pk)]
    is_disputed = any(note.what == _NOT_ACCEPTED for note in notes)
    moved = _money_of_dishonors(row.pk) if is_disputed else []
    return sorted([*steps, *notes, *moved], key=lambda step: step.at)


def _money_of_dishonors(row_id: str) -> list[Step]:
    """What became of the money of returns that our bank did not accept."""
    steps = []
    for found in dishonors.of_transfer(row_id):
        if found.due_at is not None and found.dishonored is not None:
            what = f"Its money is credited after {days.when(found.due_at)}"
            why = "Until then the other bank may contest that its return was not accepted."
            steps.append(Step(what, brand.name(), why, found.changed_at))
        if found.counted_at is not None:
            steps.append(Step(_COUNTED[found.direction], brand.name(), "", found.counted_at))
        if found.counted_at is not None and found.contested is not None:
            steps.append(Step(_UNDONE[found.direction], brand.name(), "", found.changed_at))
    return steps


def _note(event: InboundEvent, expected_on: Callable[[date], date]) -> Step:
    what, why = _NOTES[EventKind(event.kind)]
    if event.kind == EventKind.RESCHEDULED and event.settlement_date:
        day = expected_on(event.settlement_date)
        what = f"Expected now on {day:%A, %B} {day.day}, {day.year}"
    if event.kind == EventKind.CORRECTED:
        parts = corrections.CORRECTS.get(event.code, ())
        named = " and ".join(corrections.WORDS[part] for part in parts)
        why = f"{named[:1].upper()}{named[1:]} ({event.code}){why}"
    if event.kind in (EventKind.RETURN_DISHONORED, EventKind.RETURN_CONTESTED):
        found = return_codes.lookup(event.code)
        why = f"{found.title} ({found.code}). {why}"
    return Step(what, NETWORK, why, event.decided_at or event.received_at)


def bank_code(row: FundingTransaction | Payment) -> ReturnCode | None:
    """What the bank or the network gave as its reason; None where it gave none."""
    code = row.return_code or row.failure_code
    return return_codes.lookup(code) if row.returned or code in return_codes.ALL else None
