"""The people of a development copy. Their passwords are public on purpose: they exist in
development only."""

from __future__ import annotations

from datetime import datetime

from desk import roles
from tenants import selectors
from tenants.actors import SYSTEM
from tenants.models import Mode, Role, Tenant, User
from tenants.services import accounts, staff

PASSWORD = "northwind-demo-only"  # noqa: S105  # public on purpose: it exists in development only
# Two people let a file go, or decide about money: either may be the first. None is a superuser.
ADMIN = "staff@ballast.example"
OPERATOR, RELEASER = "operator@ballast.example", "releaser@ballast.example"
_ROLES = {
    ADMIN: tuple(roles.ROLES),
    OPERATOR: ("Viewer", "Operator", "Releaser", "Accountant", "Administrator"),
    RELEASER: ("Viewer", "Releaser"),
}


def tenant_of(*, email: str, name: str, mode: Mode, now: datetime) -> Tenant:
    """The tenant of this owner, made if it is not there. The owner's password is the public one."""
    person = User.objects.filter(email=email).first()
    known = selectors.memberships(user_id=person.pk).first() if person else None
    if known is not None:
        _reset_password(known.user)
        return known.tenant
    tenant = accounts.create_tenant(name=name, mode=mode, actor=SYSTEM, now=now)
    accounts.create_member(
        tenant_id=tenant.pk, email=email, role=Role.OWNER, password=PASSWORD, actor=SYSTEM, now=now
    )
    return tenant


def ensure_staff(now: datetime) -> None:
    """Those who work for us, in their roles. A superuser of an older copy is one no more."""
    roles.ensure()
    for email, names in _ROLES.items():
        User.objects.filter(email=email, is_superuser=True).update(is_superuser=False)
        _reset_password(staff.grant(email=email, roles=names, actor=SYSTEM, now=now))


def _reset_password(person: User) -> None:
    if not person.check_password(PASSWORD):
        person.set_password(PASSWORD)
        person.save(update_fields=["password"])
