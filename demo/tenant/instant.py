"""Connects a development copy to its stand-in operator: a rail of each instant network with a key
of its own, the network's list of participants, the account whose statements it reads, the money
that lies there, and development routes.

Running it again changes only what differs: the operator's port and keys belong to its folder, and
the routes stay where somebody has led them since.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.conf import settings

from demo.tenant import routes
from demo.tenant.routes import DOER
from desk.positions import acts as positions
from desk.positions import lists
from desk.rails.instant import acts
from desk.statements import acts as statements
from devstack.instant import client
from networks import registry
from networks.base import Method
from networks.instant import key_slots, participants
from networks.instant.models import InstantKey, InstantRail, Position, PositionMove
from networks.instant.models.rails import ProfileName
from networks.instant.rails import NoTerms, current
from networks.instant.terms import Connection, RailTerms
from networks.rails.models import RailKind
from reconciliation.accounts import Opening
from reconciliation.models import SettlementAccount, StatementFormat
from transfers.positions import Move

# What live tenants use each network for: money comes in by one, and goes out by the other.
METHODS: Mapping[str, Method] = MappingProxyType(
    {"rtp": Method.RTP_REQUEST, "fednow": Method.RTP_CREDIT}
)
_WARN_BELOW = 10_000_000  # cents
_BROUGHT_IN = 100_000_000  # cents
REASON = "The stand-in operator of this development copy"


def home() -> Path:
    """The folder of this copy's operator."""
    return Path(settings.RUN_DIR) / "instant"


def can_connect() -> bool:
    """Whether this copy has an operator, and may let live tenants use it."""
    return settings.DEVELOPMENT_ROUTES and (home() / client.CONNECTION).exists()


def connect(*, now: datetime) -> str:
    """Make what is missing; gives the address of the payer's bank's page. Raises
    client.Unavailable."""
    known = client.connection(home())
    for name in METHODS:
        rail = acts.open_rail(
            name=name, profile=ProfileName(name), kind=RailKind.STAND_IN, doer=DOER, now=now
        )
        _agree(rail, known, now)
        client.call(home(), "authorize", certificate=_key(rail, now).certificate)
        _participants(rail, known, now)
        _account(rail, known, now)
        _position(rail, known, now)
    registry.look_again()
    for name, method in METHODS.items():
        routes.lead(method, rail=name, reason=REASON, now=now)
    return str(known["page"])


def terms(profile: str, known: Mapping[str, Any]) -> RailTerms:
    """What this copy and its operator agreed on about a network."""
    mine = known["networks"][profile]
    return RailTerms(
        participant=mine["participant_id"],
        routing_number=mine["routing"],
        creditor_name="Ballast",
        keeps_position=True,
        position_warn_below=_WARN_BELOW,
        statements=f"{known['statements']}/{profile}_camt053_*.xml",
        active=True,
        connection=Connection(base_url=mine["base_url"], pins=tuple(known["pins"])),
    )


def _agree(rail: InstantRail, known: Mapping[str, Any], now: datetime) -> None:
    """Terms that staff have changed stay, but for the operator's address and keys."""
    wanted = terms(rail.profile, known)
    try:
        before = current(rail.pk).terms.as_json()
    except NoTerms:
        before = {}
    stored = {**wanted.as_json(), **before, "connection": wanted.as_json()["connection"]}
    if stored != before:
        acts.change_alone(
            rail=rail,
            terms=RailTerms.parse(stored),
            account="" if before else known["networks"][rail.profile]["account"],
            reason=REASON,
            doer=DOER,
            now=now,
        )


def _participants(rail: InstantRail, known: Mapping[str, Any], now: datetime) -> None:
    """The network's list, unless there is one already."""
    if participants.current(rail.profile) is None:
        content = Path(known["participants"]).read_bytes()
        lists.take(rail.profile, content, reason=REASON, is_forced=False, doer=DOER, now=now)


def _account(rail: InstantRail, known: Mapping[str, Any], now: datetime) -> None:
    """Have the operator's statements taken from the day before on, which is over: it begins and
    ends with nothing. Where money lies there that no statement tells of, there is none."""
    is_late = PositionMove.objects.filter(rail=rail).exists() or _at_operator(rail, known)
    if is_late or SettlementAccount.objects.filter(rail_id=rail.pk).exists():
        return
    opening = Opening(
        rail=rail.pk,
        number=known["networks"][rail.profile]["account"],
        format=StatementFormat.CAMT,
        opened_on=current(rail.pk).profile.settlement_date(now) - timedelta(days=1),
        cents=0,
    )
    statements.put_in_force(opening=opening, reason=REASON, doer=DOER, now=now)


def _position(rail: InstantRail, known: Mapping[str, Any], now: datetime) -> None:
    """What lies there, unless people have moved money already; where nothing does, bring some in.
    The operator's statement names our move."""
    move = PositionMove.objects.filter(rail=rail).order_by("pk").first()
    if move is None:
        there = _at_operator(rail, known)
        cents = (there or _BROUGHT_IN) - Position.objects.get(pk=rail.pk).balance
        move = positions.put_in_force(
            move=Move(rail=rail.pk, cents=cents), reason=REASON, doer=DOER, now=now
        )
    if not _at_operator(rail, known):  # also after a start that did not come so far
        client.call(home(), "fund", profile=rail.profile, amount=move.amount, reference=move.pk)


def _at_operator(rail: InstantRail, known: Mapping[str, Any]) -> int:
    """Cents that lie there by the operator's word."""
    found = client.call(home(), "positions")[rail.profile]
    return int(found[known["networks"][rail.profile]["routing"]])


def _key(rail: InstantRail, now: datetime) -> InstantKey:
    """The key by which the operator knows us."""
    known = key_slots.slots(rail.pk).used
    return known or acts.make_key(rail=rail.pk, reason=REASON, doer=DOER, now=now)
