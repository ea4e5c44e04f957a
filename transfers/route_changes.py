"""Staff open and close routes, with a reason, audited. `operator` is the name that somebody at a
command line gave, whom `actor` does not name.

A change acts on the next claim, and within ROUTES_KNOWN_SECONDS on what is offered. What one call
hands over has been claimed before, and still goes out.
"""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import transaction

from common.errors import StaffRefusal
from networks import registry
from networks.rails.models import LIVE, MODES, SANDBOX, Rail, RailKind, Route
from tenants.actors import Actor
from tenants.services import audit
from transfers.rows import REASON_LENGTH_MAX

_CHANGING = ("rail", "rail_kind", "development", "is_open", "changed_at")


class RouteRefused(StaffRefusal):
    code = "route_refused"
    title = "Not possible"
    advice = "A route leads from a mode and a method to a rail that carries it."


@transaction.atomic
def open_route(
    *,
    mode: str,
    method: str,
    rail: str,
    development: bool = False,
    reason: str,
    actor: Actor,
    operator: str = "",
    now: datetime,
) -> Route:
    """Let `rail` carry `method` (a network's word) for tenants of `mode`, in place of another rail
    if one does. Repeatable. Raises RouteRefused."""
    reason, leads_to = _checked(reason), _usable(mode, method, rail, development)
    route = _locked(mode, method)
    before = _said(route) if route else None
    route = route or Route(mode=mode, method=method)
    route.rail, route.rail_kind = leads_to, leads_to.kind
    route.development, route.is_open = development, True
    if _said(route) != before:
        _record(route, "opened", reason, actor=actor, operator=operator, now=now)
    return route


@transaction.atomic
def close_route(
    *, mode: str, method: str, reason: str, actor: Actor, operator: str = "", now: datetime
) -> Route:
    """Let nothing more leave by this route. What waits for it is kept until it is open again.
    Repeatable. Raises RouteRefused."""
    reason, route = _checked(reason), _locked(mode, method)
    if route is None:
        raise RouteRefused(f"There is no route for {method} of {mode} tenants.")
    if route.is_open:
        route.is_open = False
        _record(route, "closed", reason, actor=actor, operator=operator, now=now)
    return route


def _locked(mode: str, method: str) -> Route | None:
    rows = Route.objects.select_for_update(no_key=True, of=("self",))
    return rows.filter(mode=mode, method=method).first()


def _usable(mode: str, method: str, name: str, development: bool) -> Rail:
    """The rail of this name, if such a route may lead to it."""
    rail = Rail.objects.filter(name=name).first()
    if rail is None:
        raise RouteRefused(f"There is no rail {name}.", field="rail")
    if mode not in MODES:
        raise RouteRefused(f"The mode is {' or '.join(MODES)}.", field="mode")
    if mode == SANDBOX and rail.kind == RailKind.REAL:
        raise RouteRefused(f"{name} moves money, and sandbox tenants have none.", field="rail")
    if development and not settings.DEVELOPMENT_ROUTES:
        raise RouteRefused("DEVELOPMENT_ROUTES is off here.", field="development")
    if mode == LIVE and rail.kind == RailKind.STAND_IN and not development:
        raise RouteRefused(
            f"{name} is a stand-in: only a development route leads live tenants there.",
            field="rail",
        )
    network = registry.find(name)
    if network is None:
        raise RouteRefused(f"Nothing here speaks to {name}: no {rail.driver}.", field="rail")
    if method not in network.capabilities.methods:
        raise RouteRefused(f"{name} has no {method}.", field="method")
    return rail


def _said(route: Route) -> tuple[object, ...]:
    return route.rail_id, route.development, route.is_open


def _checked(reason: str) -> str:
    if not 1 <= len(reason := reason.strip()) <= REASON_LENGTH_MAX:
        raise RouteRefused(
            f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.", field="reason"
        )
    return reason


def _record(
    route: Route, what: str, reason: str, *, actor: Actor, operator: str, now: datetime
) -> None:
    route.changed_at = now
    route.save(update_fields=None if route._state.adding else _CHANGING)
    audit.record(
        tenant_id=None,
        actor=actor,
        action=f"route.{what}",
        subject_id=route.pk,
        details={
            "mode": route.mode,
            "method": route.method,
            "rail": route.rail_id,
            "development": route.development,
            **({"operator": operator} if operator else {}),
        },
        staff_note=reason,
        now=now,
    )
