"""Who did something, and the course of a transfer, as its own page and the audit log show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from funding.models import FundingTransaction
from networks import return_codes
from networks.return_codes import ReturnCode
from payments.models import Payment
from tenants.models import ActorType

_ACTORS = {
    ActorType.STAFF: "Ballast support",
    ActorType.NETWORK: "The payment network",
    ActorType.SYSTEM: "Ballast",
}


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
    return _ACTORS.get(ActorType(kind)) or names.get(actor_id, actor_id)


def bank_code(row: FundingTransaction | Payment) -> ReturnCode | None:
    """What the bank or the network gave as its reason; None where it gave none."""
    code = row.return_code or row.failure_code
    return return_codes.lookup(code) if row.returned or code in return_codes.ALL else None
