"""Which pages a session opens by how it was signed in to.

Who vouches for somebody is their provider, and it speaks for its own tenant alone: what the person
is elsewhere is not for it to open. So a session that began at a tenant's provider reaches that
tenant, and one that began at our staff's provider reaches the desk. Where a connection is required,
people of its domains reach the tenant, or the desk, by it alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest

from tenants import proofs
from tenants.models import Membership, User
from tenants.sso import connections
from tenants.sso.connections import Connection

NOWHERE = Connection(id="", name="", tenant="", issuer="", domains=())


def of_session(request: HttpRequest) -> Connection | None:
    """The connection that this session began with; None: with a password or passkey. One that was
    taken out of the file since, or switched off, reaches nothing: NOWHERE."""
    name = proofs.connection_of(request)
    return None if name is None else connections.by_id(name) or NOWHERE


def tenants_of(request: HttpRequest, memberships: Sequence[Membership]) -> tuple[Membership, ...]:
    """Those of the person's memberships that this session reaches."""
    began = of_session(request)
    if began is not None:
        return tuple(one for one in memberships if one.tenant_id == began.tenant)
    closed = {one.tenant for one in _required_of(request.user)}
    return tuple(one for one in memberships if one.tenant_id not in closed)


def needed(request: HttpRequest, memberships: Sequence[Membership]) -> Connection | None:
    """By which connection the person would reach a tenant that this session does not, if there is
    one."""
    tenants = {one.tenant_id for one in memberships}
    return next((one for one in _required_of(request.user) if one.tenant in tenants), None)


def is_desk(request: HttpRequest) -> bool:
    """Whether this session may be one of our staff's. A superuser, whom a command made, keeps the
    password: for the day on which the provider is away."""
    began = of_session(request)
    if began is not None:
        return began.is_of_staff
    user = request.user
    is_superuser = bool(getattr(user, "is_superuser", False))
    return is_superuser or not any(one.is_of_staff for one in _required_of(user))


def _required_of(user: object) -> list[Connection]:
    """The connections by which alone people with this person's address come in."""
    if not isinstance(user, User):
        return []
    return [one for one in connections.connected() if one.required and one.speaks_for(user.email)]
