"""The routes: which rail carries which method for tenants of which mode, and who said so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from desk import doers
from networks.rails.models import Rail, Route
from tenants.models import ActorType, AuditEvent

SHOWN = 50


@dataclass(frozen=True)
class RouteLine:
    """One route as it stands, and its last change. `who` is empty where no audit line names it:
    `migrate` made the first routes."""

    mode: str
    method: str
    rail: str
    kind: str
    is_open: bool
    is_development: bool
    changed_at: datetime
    who: str
    why: str


def route_lines() -> list[RouteLine]:
    """All routes, live ones first. Five queries at most."""
    routes = list(Route.objects.order_by("mode", "method")[:SHOWN])
    rails = Rail.objects.in_bulk({route.rail_id for route in routes})
    said = _last_said(routes)
    names = doers.names_of({event.actor_id for event in said.values()})
    return [_line(route, rails[route.rail_id], said.get(route.pk), names) for route in routes]


def _last_said(routes: Iterable[Route]) -> dict[str, AuditEvent]:
    ids = [route.pk for route in routes]
    rows = AuditEvent.objects.filter(subject_id__in=ids, action__startswith="route.")
    last = rows.order_by("subject_id", "-created_at", "-pk").distinct("subject_id")
    return {event.subject_id: event for event in last}


def _line(route: Route, rail: Rail, event: AuditEvent | None, names: dict[str, str]) -> RouteLine:
    return RouteLine(
        mode=route.mode.capitalize(),
        method=route.method,
        rail=route.rail_id,
        kind=str(rail.get_kind_display()),
        is_open=route.is_open,
        is_development=route.development,
        changed_at=route.changed_at,
        who=_who(event, names) if event else "",
        why=event.staff_note if event else "",
    )


def _who(event: AuditEvent, names: dict[str, str]) -> str:
    if event.actor_type == ActorType.SYSTEM:  # a command, of whose operator older lines say nothing
        return str(event.details.get("operator", "A command"))
    return names.get(event.actor_id, event.actor_id)
