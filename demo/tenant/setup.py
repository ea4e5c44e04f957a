"""The demo tenants of a development copy: people, keys, bank accounts, thirty days of history, and
where there are a stand-in bank, a stand-in operator and a webhook receiver, a live tenant that uses
the first two and an endpoint that leads to the last. The bank brings money that nobody asked for,
once.

Running it again changes nothing but the API keys, which cannot be shown twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from demo.tenant import bank, history, instant, live, people, receiver, requests
from demo.tenant.live import Live
from devstack.receiver.connection import Connection
from funding import selectors as funding
from tenants.models import Mode, Tenant

TENANT_NAME = "Northwind Trading"
EMAIL = "demo@ballast.example"


@dataclass(frozen=True)
class Demo:
    """The tenants and their API keys; no live one where there is no bank, no receiver where none
    runs."""

    tenant_id: str
    api_key: str
    receiver: Connection | None
    live: Live | None


def ensure(*, now: datetime) -> Demo:
    """Make what is missing; replace the API keys. Not inside a transaction."""
    tenant = _ensure_people(now)
    is_new = not funding.sources(tenant_id=tenant.pk).exists()
    if is_new:
        history.live(tenant=tenant, approver=EMAIL, now=now)
    key = live.new_key(tenant, now)
    if is_new:
        requests.send(api_key=key)
    known = ensure_live(now=now) if bank.can_connect() else None
    if is_new and known is not None:
        bank.bring_a_strangers_money()
    return Demo(
        tenant_id=tenant.pk, api_key=key, receiver=receiver.ensure(tenant, now=now), live=known
    )


def ensure_live(*, now: datetime) -> Live:
    """Connect the bank and the operator, and make their tenant and the two who release files.
    Raises `devstack.odfi.client.Unavailable` and that of `devstack.instant`."""
    bank.connect(now=now)
    payers_bank = instant.connect(now=now) if instant.can_connect() else ""
    people.ensure_staff(now)
    return live.ensure(payers_bank=payers_bank, now=now)


@transaction.atomic
def _ensure_people(now: datetime) -> Tenant:
    tenant = people.tenant_of(email=EMAIL, name=TENANT_NAME, mode=Mode.SANDBOX, now=now)
    people.ensure_staff(now)
    return tenant
