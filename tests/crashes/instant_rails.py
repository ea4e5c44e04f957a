"""Instant rails as an operator makes and changes them, for stories: each rail is a new one."""

from __future__ import annotations

from itertools import count

from common.clock import utc_now
from desk.doers import Doer, operator
from desk.rails.instant import acts
from networks.instant.models import InstantRail
from networks.instant.models.rails import ProfileName
from networks.instant.terms import Connection, RailTerms
from networks.rails.models import RailKind

_number = count(1_000_000)  # banks of other stories have smaller ones


def terms(rail: str, **changes: object) -> RailTerms:
    line = Connection(base_url=f"https://bank.example/{rail}", pins=("ab" * 32,))
    values = {
        "participant": "124000313",
        "routing_number": "124000313",
        "creditor_name": "Ballast Inc.",
        "connection": line,
    }
    return RailTerms(**{**values, **changes})  # type: ignore[arg-type]  # by their names


def olga() -> Doer:
    return operator("Olga")


def opened() -> InstantRail:
    """Without terms."""
    return acts.open_rail(
        name=f"bank{next(_number)}",
        profile=ProfileName.FEDNOW,
        kind=RailKind.REAL,
        doer=olga(),
        now=utc_now(),
    )


def in_force() -> InstantRail:
    rail = opened()
    acts.change_alone(
        rail=rail,
        terms=terms(rail.pk),
        account="4000323456",
        reason="First bank",
        doer=olga(),
        now=utc_now(),
    )
    return rail
