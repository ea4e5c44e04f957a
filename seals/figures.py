"""How far the seals go, for the desk, metrics and commands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common import sealed
from seals import publication
from seals.models import SealPublication, SealRound
from seals.windows import Window


@dataclass(frozen=True, kw_only=True)
class SealState:
    """The newest round. `upto`: everything dated before it is sealed."""

    number: int
    made_at: datetime
    upto: datetime
    mac: str
    chains: int


def state() -> SealState | None:
    """One indexed query."""
    row = SealRound.objects.order_by("-number").first()
    if row is None:
        return None
    dated = [row.windows[name] for name in sealed.dated() if name in row.windows]
    upto = min((Window.read(stored).until for stored in dated), default=row.made_at)
    return SealState(
        number=row.number, made_at=row.made_at, upto=upto, mac=row.mac, chains=row.chains
    )


def published_at() -> dict[str, datetime | None]:
    """When each configured way last took a line. One indexed query each."""
    return {str(way): _taken_at(way) for way in publication.ways()}


def _taken_at(way: str) -> datetime | None:
    taken = SealPublication.objects.filter(way=way, error="").order_by("-at")
    return taken.values_list("at", flat=True).first()
