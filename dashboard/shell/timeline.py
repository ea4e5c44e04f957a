"""Who did something, and the course of a transfer, as its own page and the audit log show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType

from common import brand
from funding.models import FundingTransaction
from networks import return_codes
from networks.base import EventKind
from networks.return_codes import ReturnCode
from payments.models import Payment
from tenants.models import ActorType
from transfers import corrections
from transfers.inbox import telling
from transfers.inbox.models import InboundEvent

_NETWORK = "The payment network"

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
            "The banks settle this between them. Your balance stays as it is until we know more.",
        ),
        EventKind.RETURN_CONTESTED: (
            "The other bank stands by its return",
            "The return is final. Your balance stays as it is.",
        ),
    }
)


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
            return _NETWORK
    return names.get(actor_id, actor_id)


def with_bank_notes(
    steps: Sequence[Step], row: FundingTransaction | Payment, expected_on: Callable[[date], date]
) -> list[Step]:
    """The steps of a transfer, and between them what banks said that moved no money. `expected_on`:
    when money has arrived for good that settles on a day. One query."""
    notes = [_note(event, expected_on) for event in telling.besides(row.pk)]
    return sorted([*steps, *notes], key=lambda step: step.at)


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
    return Step(what, _NETWORK, why, event.decided_at or event.received_at)


def bank_code(row: FundingTransaction | Payment) -> ReturnCode | None:
    """What the bank or the network gave as its reason; None where it gave none."""
    code = row.return_code or row.failure_code
    return return_codes.lookup(code) if row.returned or code in return_codes.ALL else None
