"""The people of a development copy. Their passwords are public on purpose: they exist in
development only."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import Group

from desk import roles
from tenants import selectors
from tenants.actors import SYSTEM
from tenants.models import Mode, Role, Tenant, User
from tenants.services import accounts

PASSWORD = "northwind-demo-only"  # noqa: S105  # public on purpose: it exists in development only
ADMIN = "staff@ballast.example"
# Two people let a file go. Either may be the first.
OPERATOR, RELEASER = "operator@ballast.example", "releaser@ballast.example"
_ROLES = {OPERATOR: ("Viewer", "Operator", "Releaser"), RELEASER: ("Viewer", "Releaser")}


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


def ensure_admin() -> None:
    """Somebody who may do everything at the desk."""
    person = User.objects.filter(email=ADMIN).first()
    if person is None:
        User.objects.create_superuser(email=ADMIN, password=PASSWORD)
    else:
        _reset_password(person)


def ensure_releasers() -> None:
    """The two who let files go, in their roles."""
    roles.ensure()
    for email, names in _ROLES.items():
        person = User.objects.filter(email=email).first()
        if person is None:
            person = User.objects.create_user(email=email, password=PASSWORD, is_staff=True)
        else:
            _reset_password(person)
        person.groups.add(*Group.objects.filter(name__in=names))


def _reset_password(person: User) -> None:
    if not person.check_password(PASSWORD):
        person.set_password(PASSWORD)
        person.save(update_fields=["password"])
