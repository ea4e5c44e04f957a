"""The live tenant of a development copy: its money moves through the stand-in bank's files and the
stand-in operator's messages.

Its bank accounts are businesses', as a link provider would have opened them. The last digits of
their numbers decide what the bank makes of a debit (docs/stand-in-bank.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from demo.tenant import people
from funding import selectors
from funding.services import drafts, linking
from networks import routing
from networks.bank_details import BankDetails
from networks.base import AccountType, HolderType
from networks.links.base import LinkedAccount
from payments import selectors as payments
from payments.services import recipients
from tenants.actors import SYSTEM, Actor, user
from tenants.models import ApiKey, Membership, Mode, Role, Tenant
from tenants.services import keys

TENANT_NAME = "Harbor Supply"
EMAIL = "live@ballast.example"
KEY_NAME = "demo"
ROUTING_NUMBER = "021000021"
# Name of the account at its bank: number.
GOOD, EMPTY, MOVED = "operating", "empty", "moved"
_NUMBERS = {GOOD: "440023154", EMPTY: "440010001", MOVED: "440060003"}
_PAYEE = BankDetails(
    account_number="7734001",
    routing_number="071000013",
    holder_name="Cedar Street Studio",
    holder_type="business",
    account_type="checking",
)


@dataclass(frozen=True)
class Live:
    """The live tenant. `sources` and `payee` are ids; sources by the names of their accounts.
    `payers_bank` is where its own bank shows requests for payment; empty where no operator runs."""

    tenant_id: str
    api_key: str
    sources: dict[str, str]
    payee: str
    payers_bank: str


def ensure(*, payers_bank: str, now: datetime) -> Live:
    """Make what is missing; replace the API key. Not inside a transaction."""
    tenant = people.tenant_of(email=EMAIL, name=TENANT_NAME, mode=Mode.LIVE, now=now)
    if not selectors.sources(tenant_id=tenant.pk).exists():
        for name in _NUMBERS:
            _link(tenant, name, now)
    known = payments.recipients(tenant_id=tenant.pk).order_by("created_at").first()
    payee = known or recipients.save(tenant_id=tenant.pk, details=_PAYEE, actor=SYSTEM, now=now)
    sources = selectors.sources(tenant_id=tenant.pk).values_list("link_account_id", "pk")
    return Live(tenant.pk, new_key(tenant, now), dict(sources), payee.pk, payers_bank)


def new_key(tenant: Tenant, now: datetime) -> str:
    """A key in the place of the one before, which cannot be shown twice."""
    old = ApiKey.objects.filter(tenant=tenant, name=KEY_NAME, revoked_at=None)
    for key_id in old.values_list("pk", flat=True):
        keys.revoke(key_id=key_id, actor=SYSTEM, now=now)
    return keys.issue(tenant=tenant, name=KEY_NAME, actor=_owner(tenant), now=now).text


def _owner(tenant: Tenant) -> Actor:
    """The only owner: nobody is asked about what a key of theirs pays (decision 0184)."""
    return user(Membership.objects.get(tenant=tenant, role=Role.OWNER).user_id)


def _link(tenant: Tenant, name: str, now: datetime) -> None:
    linked = LinkedAccount(
        account_id=name,
        routing_number=ROUTING_NUMBER,
        account_number=_NUMBERS[name],
        account_type=AccountType.CHECKING,
        holder_type=HolderType.BUSINESS,
        bank_name=routing.bank_name(ROUTING_NUMBER),
    )
    draft = drafts.of_linked(linked, mode=tenant.mode, account_id=name, holder_name=tenant.name)
    linking.add(tenant_id=tenant.pk, draft=draft, actor=SYSTEM, now=now)
