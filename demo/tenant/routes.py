"""Development routes: live tenants of a copy use the stand-ins beside it."""

from __future__ import annotations

from datetime import datetime

from desk import doers
from networks.rails.models import LIVE, Route
from transfers import route_changes

DOER = doers.operator("./run")


def lead(method: str, *, rail: str, reason: str, now: datetime) -> None:
    """Let live tenants use the rail, unless somebody has led or closed their route already."""
    if Route.objects.filter(mode=LIVE, method=method).exists():
        return
    route_changes.open_route(
        mode=LIVE,
        method=method,
        rail=rail,
        development=True,
        reason=reason,
        actor=DOER.actor,
        operator=DOER.name,
        now=now,
    )
