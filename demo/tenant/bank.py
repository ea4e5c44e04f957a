"""Connects a development copy to its stand-in bank: a rail, our key, a company, development routes.

Running it again changes only what differs: the bank's port and keys belong to its folder, and the
routes stay where somebody has led them since.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from django.conf import settings

from demo.tenant import routes
from demo.tenant.routes import DOER
from desk.rails import acts
from desk.statements import acts as statements
from devstack.odfi import client
from networks import registry
from networks.ach import key_slots
from networks.ach.connection_terms import Connection
from networks.ach.models import AchKey, Originator
from networks.ach.originating import Company
from networks.ach.rails import NoTerms, current
from networks.ach.terms import Cutoff, RailTerms
from networks.base import Method
from networks.rails.models import RailKind
from reconciliation.accounts import Opening
from reconciliation.models import SettlementAccount, StatementFormat

RAIL = "standin"
METHODS = (Method.ACH_DEBIT, Method.ACH_CREDIT)
REASON = "The stand-in bank of this development copy"
_STRANGERS = 31_250  # cents
# As the bank takes files (devstack.odfi.calendar).
_CUTOFFS = (
    Cutoff(at=time(10, 15), same_day=True),
    Cutoff(at=time(14, 30), same_day=True),
    Cutoff(at=time(16, 30), same_day=True),
    Cutoff(at=time(19, 45)),
    Cutoff(at=time(22, 30)),
)


@dataclass(frozen=True)
class Connected:
    """The rail, the key by which the bank knows us, and the key by which we know the bank."""

    rail: str
    our_key: str
    host_key: str
    address: str


def home() -> Path:
    """The folder of this copy's bank."""
    return Path(settings.RUN_DIR) / "bank"


def can_connect() -> bool:
    """Whether this copy has a bank, and may let live tenants use it."""
    return settings.DEVELOPMENT_ROUTES and (home() / client.CONNECTION).exists()


def connect(*, now: datetime) -> Connected:
    """Make what is missing. Raises client.Unavailable."""
    known = client.connection(home())
    _agree(known, now)
    key = _key(now)
    client.call(home(), "authorize", key=key.public_key)
    _company(known, now)
    _account(now)
    registry.look_again()
    for method in METHODS:
        routes.lead(method, rail=RAIL, reason=REASON, now=now)
    address = f"{known['host']}:{known['port']}"
    return Connected(RAIL, key.fingerprint, str(known["host_key"]), address)


def bring_a_strangers_money() -> None:
    """Have the bank bring money that nobody asked for, so that the desk has something to decide."""
    client.call(
        home(),
        "credit",
        amount=_STRANGERS,
        company="OLD MILL SUPPLY",
        description="REFUND",
        name="HARBOR SUPPLIES",
    )


def terms(known: dict[str, Any]) -> RailTerms:
    """What this copy and its bank agreed on."""
    return RailTerms(
        odfi_routing=known["routing"],
        immediate_destination=f" {known['routing']}",
        immediate_destination_name="STANDIN BANK NA",
        immediate_origin=known["customer_id"],
        immediate_origin_name="BALLAST",
        company_id=known["customer_id"],
        company_name="BALLAST",
        descriptions={"topup": "TOPUP", "payment": "PAYMENT"},
        cutoffs=_CUTOFFS,
        settlement_account=known["settlement_account"],
        active=True,
        connection=Connection(
            host=known["host"],
            port=known["port"],
            user=known["username"],
            host_keys=(known["host_key"],),
        ),
    )


def _agree(known: dict[str, Any], now: datetime) -> None:
    """Terms that staff have changed stay, but for the address and key of the bank."""
    wanted = terms(known)
    try:
        before = current(RAIL).parsed.as_json()
    except NoTerms:
        before = {}
    stored = {**wanted.as_json(), **before, "connection": wanted.as_json()["connection"]}
    if stored != before:
        acts.change_alone(
            rail=RAIL,
            kind=RailKind.STAND_IN,
            terms=RailTerms.parse(stored),
            offset_account=None,
            reason=REASON,
            doer=DOER,
            now=now,
        )


def _key(now: datetime) -> AchKey:
    """The key that we sign in with."""
    known = key_slots.slots(RAIL).used
    return known or acts.make_key(rail=RAIL, reason=REASON, doer=DOER, now=now)


def _company(known: dict[str, Any], now: datetime) -> None:
    """In whose name files go out for tenants that have no company of their own."""
    if Originator.objects.filter(rail_id=RAIL, tenant_id="", ended_at=None).exists():
        return
    company = Company(company_name="BALLAST", company_id=known["customer_id"])
    acts.assign_alone(rail=RAIL, tenant_id="", company=company, reason=REASON, doer=DOER, now=now)


def _account(now: datetime) -> None:
    """Have the bank's statements taken from its next one on. One that begins overdrawn is none."""
    if SettlementAccount.objects.filter(rail_id=RAIL).exists():
        return
    account = client.call(home(), "account")
    if account["opening"] < 0:
        return
    opening = Opening(
        rail=RAIL,
        number=account["number"],
        format=StatementFormat.BAI2,
        opened_on=date.fromisoformat(account["day"]),
        cents=account["opening"],
    )
    statements.put_in_force(opening=opening, reason=REASON, doer=DOER, now=now)
