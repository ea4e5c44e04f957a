"""The demo tenant of a development copy: people, a key, a bank account, thirty days of history.

Running it again changes nothing but the API key, which cannot be shown twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from demo.tenant import history, requests
from funding import selectors as funding
from tenants import selectors
from tenants.actors import SYSTEM
from tenants.models import ApiKey, Mode, Role, Tenant, User
from tenants.services import accounts, keys

TENANT_NAME = "Northwind Trading"
EMAIL = "demo@ballast.example"
STAFF_EMAIL = "staff@ballast.example"
PASSWORD = "northwind-demo-only"  # noqa: S105  # public on purpose: it exists in development only
KEY_NAME = "demo"


@dataclass(frozen=True)
class Demo:
    """The logins and the API key of the demo tenant."""

    tenant_id: str
    api_key: str


def ensure(*, now: datetime) -> Demo:
    """Make what is missing; replace the API key. Not inside a transaction."""
    tenant = _ensure_people(now)
    is_new = not funding.sources(tenant_id=tenant.pk).exists()
    if is_new:
        history.live(tenant=tenant, approver=EMAIL, now=now)
    demo = Demo(tenant_id=tenant.pk, api_key=_new_key(tenant, now))
    if is_new:
        requests.send(api_key=demo.api_key)
    return demo


@transaction.atomic
def _ensure_people(now: datetime) -> Tenant:
    tenant = _tenant(now)
    _staff()
    return tenant


def _tenant(now: datetime) -> Tenant:
    person = User.objects.filter(email=EMAIL).first()
    known = selectors.memberships(user_id=person.pk).first() if person else None
    if known is not None:
        _reset_password(known.user)
        return known.tenant
    tenant = accounts.create_tenant(name=TENANT_NAME, mode=Mode.SANDBOX, actor=SYSTEM, now=now)
    accounts.create_member(
        tenant_id=tenant.pk, email=EMAIL, role=Role.OWNER, password=PASSWORD, actor=SYSTEM, now=now
    )
    return tenant


def _staff() -> None:
    person = User.objects.filter(email=STAFF_EMAIL).first()
    if person is None:
        User.objects.create_superuser(email=STAFF_EMAIL, password=PASSWORD)
    else:
        _reset_password(person)


def _reset_password(person: User) -> None:
    if not person.check_password(PASSWORD):
        person.set_password(PASSWORD)
        person.save(update_fields=["password"])


def _new_key(tenant: Tenant, now: datetime) -> str:
    old = ApiKey.objects.filter(tenant=tenant, name=KEY_NAME, revoked_at=None)
    for key_id in old.values_list("pk", flat=True):
        keys.revoke(key_id=key_id, actor=SYSTEM, now=now)
    return keys.issue(tenant=tenant, name=KEY_NAME, actor=SYSTEM, now=now).text
