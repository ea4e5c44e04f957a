"""What can be found by its id: the tenant's rows, and who may see them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from api import request_log
from approvals import policies
from balance import selectors as ledger
from dashboard.find import hits
from dashboard.find.hits import Hit
from dashboard.shell.access import MONEY
from funding import selectors as funding
from payments import selectors as payments
from tenants import selectors as tenants
from tenants.models import Role
from webhooks import selectors as webhooks


@dataclass(frozen=True)
class Kind:
    """Rows of a tenant whose ids begin with `prefix`. `roles` may see the page that a hit leads
    to."""

    prefix: str
    title: str
    rows: Callable[[str], QuerySet[Any, Any]]
    hit: Callable[[Any], Hit]
    roles: Collection[str] = tuple(Role)


KINDS = (
    Kind("pay", "Payments", lambda pk: payments.payments(tenant_id=pk), hits.of_payment),
    Kind("ftx", "Funding", lambda pk: funding.attempts(tenant_id=pk), hits.of_funding),
    Kind("btx", "Transactions", ledger.transactions, hits.of_transaction),
    Kind("rcp", "Recipients", lambda pk: payments.recipients(tenant_id=pk), hits.of_recipient),
    Kind("fs", "Bank accounts", lambda pk: funding.sources(tenant_id=pk), hits.of_bank_account),
    Kind("dau", "Authorizations", lambda pk: funding.authorizations(tenant_id=pk),
         hits.of_authorization),
    Kind("evt", "Events", lambda pk: webhooks.events(tenant_id=pk), hits.of_event),
    Kind("dlv", "Deliveries", lambda pk: webhooks.every_delivery(tenant_id=pk), hits.of_delivery),
    Kind("wh", "Webhooks", lambda pk: webhooks.endpoints(tenant_id=pk), hits.of_endpoint),
    Kind("req", "API requests", lambda pk: request_log.requests(tenant_id=pk), hits.of_request),
    Kind("key", "API keys", lambda pk: tenants.api_keys(tenant_id=pk), hits.of_key, MONEY),
)  # fmt: skip


def named(prefix: str, *, role: str) -> Iterator[Kind]:
    """The kinds of such ids that a person in this role may see. Ids of approvals do not tell of
    which kind they are."""
    yield from (kind for kind in KINDS if kind.prefix == prefix and role in kind.roles)
    if prefix == "cnf":
        yield from map(_approvals, policies.every())


def _approvals(policy: policies.AnyPolicy) -> Kind:
    def rows(tenant_id: str) -> QuerySet[Any, Any]:
        return policy.approvals().filter(tenant_id=tenant_id)

    return Kind("cnf", "Approvals", rows, hits.of_approval)
